// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/controllers.hpp"

namespace llmscape::serving {

// Replicas of one pool go to another at a given time, those with the fewest calls first; one stays.
struct Convert : ControllerPolicy {
  Seconds at;
  std::string from, to;
  std::int64_t count = 1;
  Seconds takes;

  [[nodiscard]] std::vector<Problem> problems(const FleetPlan& plan) const override;
  [[nodiscard]] std::unique_ptr<Controller> make(const FleetPlan& plan) const override;
  [[nodiscard]] bool converts() const override { return true; }
};
const Fields<Convert>& convert_fields();

// For problems(): replicas cannot change between these pools.
std::vector<Problem> not_convertible(const FleetPlan& plan, const std::string& from, const std::string& to);

}  // namespace llmscape::serving
