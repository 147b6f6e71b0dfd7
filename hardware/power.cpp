// SPDX-License-Identifier: Apache-2.0
#include "hardware/power.hpp"

#include <algorithm>

namespace llmscape::hardware {

namespace {

constexpr double kLeastVoltage = 0.7;  // of that at the boost clock, and the clock that needs no more

}  // namespace

double energy_of_operation(double clock) {
  const double voltage = std::max(kLeastVoltage, clock);
  return voltage * voltage;
}

double clock_that_takes(Joules most, Joules active, Joules work, Joules traffic) {
  const double a = active.si(), w = work.si(), rest = (most - traffic).si();
  constexpr double kFloor = kLeastVoltage * kLeastVoltage;
  if (kFloor * (kLeastVoltage * a + w) > rest)
    return a > 0 ? std::max(kLowestClock, (rest / kFloor - w) / a) : kLowestClock;
  // Newton's steps down a curve that rises ever more steeply: from above, they never pass the root.
  constexpr int kSteps = 20;
  double clock = 1;
  for (int i = 0; i < kSteps; ++i) {
    const double lower = clock - (clock * clock * (a * clock + w) - rest) / (clock * (3 * a * clock + 2 * w));
    if (!(lower < clock * (1 - 1e-14))) break;
    clock = lower;
  }
  return std::max(kLeastVoltage, clock);
}

}  // namespace llmscape::hardware
