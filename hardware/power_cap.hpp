// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/device.hpp"

#include <functional>
#include <memory>

namespace llmscape::hardware {

// The step model of a device at a share (0 to 1) of the clock that it is set to, whatever power it draws there.
using AtClock = std::function<std::unique_ptr<StepModel>(double share)>;

// Steps whose mean dynamic power would exceed `headroom` on each of `devices` (the limit less the idle power) run at
// the clock that draws just that: the step is shared between the two neighbours of it in a ladder of clocks 5 % apart,
// so that its mean power is the limit. Dynamic power is about f V^2, so that work takes fewer joules at a lower clock.
// Where even the lowest clock draws too much (traffic alone exceeds the limit), the step pauses in between and lasts
// joules / headroom. Time that the limit adds counts as bound by what it was without.
std::unique_ptr<StepModel> under_power_limit(AtClock at_clock, Watts headroom, int devices);

}  // namespace llmscape::hardware
