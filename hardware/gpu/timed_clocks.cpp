// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/timed_clocks.hpp"

#include "hardware/power.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace llmscape::hardware {
namespace {

constexpr double kClockStep = 0.05;  // between neighbouring clocks, as a share of the boost clock
constexpr std::size_t kClockSteps = 18;
constexpr double kLowest = 1 - kClockStep * static_cast<double>(kClockSteps - 1);
static_assert(kLowest < kLowestClock + 1e-9);

Joules sum(const Phase& phase) {
  Joules all;
  for (const Joules& energy : phase.energy) all += energy;
  return all;
}

// The joules of a family at a clock, given those at the boost clock and how much longer it takes.
void at_law(Phase& phase, double clock, double longer) {
  const double operation = energy_of_operation(clock);
  phase.energy_of(EnergyComponent::active) *= clock * operation * longer;
  phase.energy_of(EnergyComponent::compute) *= operation;
}

Joules drawn(Phase phase, double clock) {
  at_law(phase, clock, 1);
  return sum(phase);
}

// The clock at which a family that would draw more than `most` draws just that.
double clock_of(const Phase& phase, Joules most) {
  constexpr int kHalvings = 30;  // to a thousandth of a millionth
  double low = kLowest, high = 1;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (drawn(phase, middle) > most ? high : low) = middle;
  }
  return low;
}

void keep_below(Phase& phase, Joules most) {
  const Joules all = sum(phase);
  if (all <= most) return;
  const double kept = most / all;
  for (Joules& energy : phase.energy) energy *= kept;
}

class AtOneClock final : public StepModel {
 public:
  AtOneClock(std::shared_ptr<TimedClocks> clocks, double clock) : clocks_(std::move(clocks)), clock_(clock) {}
  StepPhases phases(const models::Batch& batch) override { return clocks_->phases(batch, clock_); }
  [[nodiscard]] std::vector<std::string> range_warnings() const override {
    return clocks_->at_boost().range_warnings();
  }

 private:
  std::shared_ptr<TimedClocks> clocks_;
  double clock_;
};

}  // namespace

TimedClocks::TimedClocks(AtClock at_clock, Watts headroom, int devices)
    : at_clock_(std::move(at_clock)), headroom_(static_cast<double>(devices) * headroom), rungs_(kClockSteps) {}

StepModel& TimedClocks::rung(std::size_t i) {
  if (!rungs_[i]) rungs_[i] = at_clock_(1 - kClockStep * static_cast<double>(i));
  return *rungs_[i];
}

StepPhases TimedClocks::phases(const models::Batch& batch, double clock) {
  StepPhases step = rung(0).phases(batch);
  if (clock < 1) slow(step, batch, clock);
  else
    for (std::size_t f = 0; f < kOperatorFamilies; ++f)
      if (step.has(f)) keep_below(step.of(f), headroom_ * step.at(f).time);
  return step;
}

void TimedClocks::slow(StepPhases& step, const models::Batch& batch, double clock) {
  std::array<std::optional<StepPhases>, kClockSteps> priced;
  const auto phase = [&](std::size_t i, std::size_t family) {
    if (!priced[i]) priced[i] = rung(i).phases(batch);
    return priced[i]->at(family);
  };
  const Seconds before = step.time();
  for (std::size_t f = 0; f < kOperatorFamilies; ++f) {
    if (!step.has(f) || step.at(f).time == Seconds()) continue;
    Phase& family = step.of(f);
    const Joules most = headroom_ * family.time;
    const double timed = sum(family) > most ? clock_of(family, most) : 1;
    const double share = std::clamp(clock / timed, kLowest, 1.0), place = (1 - share) / kClockStep;
    const auto above = std::min(static_cast<std::size_t>(place), kClockSteps - 1);
    const double below = place - static_cast<double>(above);
    const Seconds as_timed = family.time;
    if (above > 0 || below > 0) {
      const Phase hot = phase(above, f), cool = phase(std::min(above + 1, kClockSteps - 1), f);
      family.time = (1 - below) * hot.time + below * cool.time;
      for (std::size_t i = 0; i < kResources; ++i) family.busy[i] = (1 - below) * hot.busy[i] + below * cool.busy[i];
    }
    at_law(family, std::min(clock, timed), family.time / as_timed);
    keep_below(family, headroom_ * family.time);
  }
  if (before > Seconds()) step.extrapolated *= step.time() / before;
}

std::unique_ptr<StepModel> at_clock(std::shared_ptr<TimedClocks> clocks, double clock) {
  return std::make_unique<AtOneClock>(std::move(clocks), clock);
}

}  // namespace llmscape::hardware
