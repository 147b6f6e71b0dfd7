// SPDX-License-Identifier: Apache-2.0
#include "hardware/power_cap.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace llmscape::hardware {
namespace {

constexpr double kRung = 0.05;      // between neighbouring clocks, as a share of the highest
constexpr std::size_t kRungs = 18;  // down to 0.15 of it: GPUs do not clock lower under load (210 of 1,980 MHz idle)

// `share` of the work at the one clock, the rest at the other. Time that the limit adds counts as bound by what it was
// without.
StepPhases shared(StepPhases hot, const StepPhases& cool, double share) {
  const auto mix = [share](auto& value, auto other) { value = share * value + (1 - share) * other; };
  mix(hot.extrapolated, cool.extrapolated);
  for (std::size_t f = 0; f < kOperatorFamilies; ++f) {
    if (!hot.has(f)) continue;
    Phase& phase = hot.of(f);
    const Phase& slow = cool.at(f);
    mix(phase.time, slow.time);
    for (std::size_t i = 0; i < kEnergyComponents; ++i) mix(phase.energy[i], slow.energy[i]);
    for (std::size_t i = 0; i < kResources; ++i) mix(phase.busy[i], slow.busy[i]);
  }
  return hot;
}

void keep_bounds(StepPhases& phases, const StepPhases& of) {
  for (std::size_t f = 0; f < kOperatorFamilies; ++f)
    if (of.has(f)) phases.of(f).bound = of.at(f).bound;
}

class CappedStepModel final : public StepModel {
 public:
  CappedStepModel(AtClock at_clock, Watts headroom) : at_clock_(std::move(at_clock)), headroom_(headroom) {
    rungs_.resize(kRungs);
    rungs_[0] = at_clock_(1);
  }

  StepPhases phases(const models::Batch& batch) override {
    StepPhases step = rungs_[0]->phases(batch);
    if (!fits(step)) step = at_limit(step, batch);
    return step;
  }

  [[nodiscard]] std::vector<std::string> range_warnings() const override { return rungs_[0]->range_warnings(); }

 private:
  StepModel& rung(std::size_t i) {
    if (!rungs_[i]) rungs_[i] = at_clock_(1 - kRung * static_cast<double>(i));
    return *rungs_[i];
  }

  // Kernels that were timed at the limit draw just that, to the last digit but one.
  [[nodiscard]] bool fits(const StepPhases& step) const {
    constexpr double kRounding = 1e-9;
    return step.energy() <= (1 + kRounding) * headroom_ * step.time();
  }

  // Power falls with the clock (no family gets faster, no joule is added), so that the rung found does not depend on
  // where the search begins: where the last one ended, because steps resemble one another.
  StepPhases at_limit(const StepPhases& fastest, const models::Batch& batch) {
    const auto priced = [&](std::size_t i) { return i == 0 ? fastest : rung(i).phases(batch); };
    std::size_t cool = std::clamp<std::size_t>(last_, 1, kRungs - 1);
    StepPhases below = priced(cool);
    StepPhases above = priced(cool - 1);
    while (fits(above)) {  // ends: the fastest does not fit
      below = above;
      above = priced(--cool - 1);
    }
    while (!fits(below) && cool + 1 < kRungs) {
      above = below;
      below = priced(++cool);
    }
    last_ = cool;
    StepPhases limited = below;
    if (fits(below)) {
      // The mix whose joules are headroom x time.
      const Joules too_much = above.energy() - headroom_ * above.time(),
                   spare = headroom_ * below.time() - below.energy();
      limited = shared(above, below, spare / (too_much + spare));
    } else {
      stretch(limited);
    }
    keep_bounds(limited, fastest);
    return limited;
  }

  void stretch(StepPhases& step) const {
    const double factor = step.energy() / headroom_ / step.time();
    for (std::size_t f = 0; f < kOperatorFamilies; ++f)
      if (step.has(f)) step.of(f).time *= factor;
    step.extrapolated *= factor;
  }

  AtClock at_clock_;
  Watts headroom_;                                 // of all devices
  std::vector<std::unique_ptr<StepModel>> rungs_;  // built when a step first needs them
  std::size_t last_ = 1;
};

}  // namespace

std::unique_ptr<StepModel> under_power_limit(AtClock at_clock, Watts headroom, int devices) {
  return std::make_unique<CappedStepModel>(std::move(at_clock), static_cast<double>(devices) * headroom);
}

}  // namespace llmscape::hardware
