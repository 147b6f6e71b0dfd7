// SPDX-License-Identifier: Apache-2.0
#include "hardware/power.hpp"

#include <algorithm>

namespace llmscape::hardware {

double energy_of_operation(double clock) {
  constexpr double kLeastVoltage = 0.7;
  const double voltage = std::max(kLeastVoltage, clock);
  return voltage * voltage;
}

}  // namespace llmscape::hardware
