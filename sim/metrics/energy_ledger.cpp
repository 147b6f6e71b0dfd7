// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/energy_ledger.hpp"

#include <cmath>
#include <stdexcept>

namespace llmscape::metrics {

namespace {

bool differ(Joules a, Joules b) {
  constexpr double kRounding = 1e-9;
  return std::abs((a - b).si()) > kRounding * std::abs(a.si());
}

}  // namespace

void EnergyLedger::spend(const std::string& group, std::size_t spending, Joules energy) {
  sums_[spending] += energy;
  by_group_[group][spending] += energy;
}

Joules EnergyLedger::total_of(const Row& row) {
  Joules sum;
  for (const Joules energy : row) sum += energy;
  return sum;
}

void EnergyLedger::check(Joules integral) const {
  Joules entries;
  for (const auto& [group, row] : by_group_) entries += total_of(row);
  if (!differ(total(), entries) && !differ(total(), integral)) return;
  throw std::logic_error("INV-6: all groups spent " + std::to_string(entries.si()) + " J, all components " +
                         std::to_string(total().si()) + " J, and power over time comes to " +
                         std::to_string(integral.si()) + " J");
}

}  // namespace llmscape::metrics
