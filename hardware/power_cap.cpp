// SPDX-License-Identifier: Apache-2.0
#include "hardware/power_cap.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace llmscape::hardware {
namespace {

constexpr double kRung = 0.05;      // between neighbouring clocks, as a share of the highest
constexpr std::size_t kRungs = 18;  // down to 0.15 of it: GPUs do not clock lower under load (210 of 1,980 MHz idle)

Joules dynamic(const StepCost& cost) { return std::accumulate(cost.energy.begin(), cost.energy.end(), Joules()); }

template <class Values>
void share_out(Values& hot, const Values& cool, double share) {
  for (std::size_t i = 0; i < hot.size(); ++i) hot[i] = share * hot[i] + (1 - share) * cool[i];
}

// `share` of the work at the one clock, the rest at the other. What waits for the host does not depend on the clock.
StepCost shared(StepCost hot, const StepCost& cool, double share) {
  hot.device = share * hot.device + (1 - share) * cool.device;
  hot.extrapolated = share * hot.extrapolated + (1 - share) * cool.extrapolated;
  share_out(hot.by_family, cool.by_family, share);
  constexpr auto kHost = static_cast<std::size_t>(OperatorFamily::host);
  hot.by_family[kHost] = cool.by_family[kHost];  // to the last bit
  share_out(hot.energy, cool.energy, share);
  share_out(hot.energy_by_family, cool.energy_by_family, share);
  share_out(hot.busy, cool.busy, share);
  return hot;
}

class CappedStepModel final : public StepModel {
 public:
  CappedStepModel(AtClock at_clock, Watts headroom) : at_clock_(std::move(at_clock)), headroom_(headroom) {
    rungs_.resize(kRungs);
    rungs_[0] = at_clock_(1);
  }

  StepCost step(const models::Batch& batch) override {
    StepCost cost = rungs_[0]->step(batch);
    if (dynamic(cost) <= headroom_ * cost.device) return cost;
    return at_limit(std::move(cost), batch);
  }

  [[nodiscard]] std::vector<std::string> range_warnings() const override { return rungs_[0]->range_warnings(); }

 private:
  StepModel& rung(std::size_t i) {
    if (!rungs_[i]) rungs_[i] = at_clock_(1 - kRung * static_cast<double>(i));
    return *rungs_[i];
  }

  // Power falls with the clock (no family gets faster, no joule is added), so that the rung found does not depend on
  // where the search begins: where the last one ended, because steps resemble one another.
  StepCost at_limit(StepCost fastest, const models::Batch& batch) {
    const auto fits = [this](const StepCost& cost) { return dynamic(cost) <= headroom_ * cost.device; };
    const auto priced = [&](std::size_t i) { return i == 0 ? fastest : rung(i).step(batch); };
    std::size_t cool = std::clamp<std::size_t>(last_, 1, kRungs - 1);
    StepCost below = priced(cool);
    StepCost above = priced(cool - 1);
    while (fits(above)) {  // ends: the fastest does not fit
      below = std::move(above);
      above = priced(--cool - 1);
    }
    while (!fits(below) && cool + 1 < kRungs) {
      above = std::move(below);
      below = priced(++cool);
    }
    last_ = cool;
    if (!fits(below)) return stretched(std::move(below), fastest);
    // The mix whose joules are headroom x time.
    const Joules too_much = dynamic(above) - headroom_ * above.device,
                 spare = headroom_ * below.device - dynamic(below);
    above.bound = fastest.bound;
    return shared(std::move(above), below, spare / (too_much + spare));
  }

  StepCost stretched(StepCost cost, const StepCost& fastest) const {
    const double factor = dynamic(cost) / headroom_ / cost.device;
    constexpr auto kHost = static_cast<std::size_t>(OperatorFamily::host);
    for (std::size_t f = 0; f < cost.by_family.size(); ++f)
      if (f != kHost) cost.by_family[f] *= factor;
    cost.extrapolated *= factor;
    cost.device *= factor;
    cost.bound = fastest.bound;
    return cost;
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
