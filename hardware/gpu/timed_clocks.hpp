// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/power.hpp"
#include "hardware/power_cap.hpp"

#include <memory>

namespace llmscape::hardware {

// Steps of devices whose kernels were timed on boards with a power limit. A family of kernels that would draw more than
// `headroom` above idle on each of `devices` at the boost clock in the time that it was measured to take ran at the
// clock c at which
//   active c V^2(c) + (work V^2(c) + traffic) / time = headroom,     V^2 as energy_of_operation(c)
// and drew that. Its measured time is the time at c: it is not slower at any clock above (nor faster, where a limit is
// raised: nobody has timed that), and below it as slow as clock / c makes it.
class TimedClocks {
 public:
  // `at_clock`: devices at a share of the boost clock, with the joules that their kernels would take without a limit.
  TimedClocks(AtClock at_clock, Watts headroom, int devices);

  // The step at that share of the boost clock, above 0 and at most 1.
  StepPhases phases(const models::Batch& batch, double clock);
  [[nodiscard]] StepModel& at_boost() { return rung(0); }

 private:
  StepModel& rung(std::size_t i);
  void slow(StepPhases& phases, const models::Batch& batch, double clock);

  AtClock at_clock_;
  Watts headroom_;                                 // of all devices
  std::vector<std::unique_ptr<StepModel>> rungs_;  // clocks 5 % apart, built when a step first needs them
};

// One of its clocks as a step model.
std::unique_ptr<StepModel> at_clock(std::shared_ptr<TimedClocks> clocks, double clock);

}  // namespace llmscape::hardware
