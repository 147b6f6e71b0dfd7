// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "hardware/device.hpp"

namespace llmscape::metrics {

// What joules are spent on: the steps of devices, by hardware::EnergyComponent, what devices draw whether they work or
// not, hosts of retrieval, all in all, and drafts that users' devices make.
inline constexpr std::size_t kStatic = hardware::kEnergyComponents;
inline constexpr std::size_t kRetrieval = kStatic + 1;
inline constexpr std::size_t kDrafting = kRetrieval + 1;
inline constexpr std::size_t kSpendings = kDrafting + 1;
constexpr std::string_view name_of_spending(std::size_t spending) {
  if (spending == kStatic) return "static";
  if (spending == kDrafting) return "drafts";
  return spending == kRetrieval ? "retrieval" : hardware::kEnergyComponentNames[spending];
}

// The joules of a run by group of devices and by what they were spent on.
class EnergyLedger {
 public:
  using Row = std::array<Joules, kSpendings>;

  void spend(const std::string& group, std::size_t spending, Joules energy);

  // Of all groups, in the order of spending: how devices are grouped does not show.
  [[nodiscard]] const Row& sums() const { return sums_; }
  [[nodiscard]] Joules total() const { return total_of(sums_); }
  [[nodiscard]] static Joules total_of(const Row& row);
  // By the name of the group.
  [[nodiscard]] const std::map<std::string, Row>& by_group() const { return by_group_; }
  // INV-6: the rows of all groups come to the total, and that to `integral`, the energy of all devices integrated over
  // time, both to nine digits. Throws std::logic_error where they do not.
  void check(Joules integral) const;

 private:
  Row sums_;
  std::map<std::string, Row> by_group_;
};

}  // namespace llmscape::metrics
