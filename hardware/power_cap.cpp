// SPDX-License-Identifier: Apache-2.0
#include "hardware/power_cap.hpp"

#include "hardware/decode_steps.hpp"
#include "hardware/shared_prices.hpp"

#include <algorithm>
#include <numeric>
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

class alignas(64) CappedStepModel final : public StepModel, public SharedPrices, public DecodePrices {
 public:
  CappedStepModel(AtClock at_clock, Watts headroom)
      : headroom_(headroom), fastest_(at_clock(1)), decodes_(dynamic_cast<DecodePrices*>(fastest_.get())),
        slower_(std::make_shared<Rungs>(std::move(at_clock))) {}
  // Where the step model at the highest clock has nothing to share, `fastest` is one of its own.
  CappedStepModel(const CappedStepModel& like, std::unique_ptr<StepModel> fastest)
      : headroom_(like.headroom_), fastest_(std::move(fastest)), decodes_(dynamic_cast<DecodePrices*>(fastest_.get())),
        slower_(like.slower_) {}

  [[nodiscard]] std::unique_ptr<StepModel> another() const override {
    const auto* shared = dynamic_cast<const SharedPrices*>(fastest_.get());
    return std::make_unique<CappedStepModel>(*this, shared ? shared->another() : slower_->at_clock(1));
  }

  StepPhases phases(const models::Batch& batch) override {
    StepPhases step = fastest_->phases(batch);
    if (!fits(step)) step = at_limit(step, batch);
    return step;
  }

  // Most steps are far enough below the limit that no order of summing their joules brings them there.
  StepCost step(const models::Batch& batch) override {
    const StepCost cost = fastest_->step(batch);
    if (std::accumulate(cost.energy.begin(), cost.energy.end(), Joules()) <= headroom_ * cost.device) return cost;
    return cost_of(phases(batch));
  }

  const std::shared_ptr<const DecodeSteps>* decode_steps(const models::Batch& batch) override {
    return decodes_ ? decodes_->decode_steps(batch) : nullptr;
  }
  bool attend(const DecodeSteps& steps, const models::Batch& batch, OwnAttention& own) override {
    constexpr double kRounding = 1e-12;
    return decodes_->attend(steps, batch, own) && steps.at_most(own) <= (1 - kRounding) * headroom_ * steps.device(own);
  }

  [[nodiscard]] std::vector<std::string> range_warnings() const override { return fastest_->range_warnings(); }

 private:
  // Of all replicas: built when a step first needs them. What they note is not asked for.
  struct Rungs {
    explicit Rungs(AtClock clock) : at_clock(std::move(clock)) { models.resize(kRungs); }
    AtClock at_clock;
    std::vector<std::unique_ptr<StepModel>> models;
  };
  StepModel& rung(std::size_t i) {
    std::unique_ptr<StepModel>& model = slower_->models[i];
    if (!model) model = slower_->at_clock(1 - kRung * static_cast<double>(i));
    return *model;
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

  Watts headroom_;  // of all devices
  std::unique_ptr<StepModel> fastest_;
  DecodePrices* decodes_;  // of it, if it has them
  std::shared_ptr<Rungs> slower_;
  std::size_t last_ = 1;
};

}  // namespace

std::unique_ptr<StepModel> under_power_limit(AtClock at_clock, Watts headroom, int devices) {
  return std::make_unique<CappedStepModel>(std::move(at_clock), static_cast<double>(devices) * headroom);
}

}  // namespace llmscape::hardware
