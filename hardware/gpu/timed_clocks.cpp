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
  slow(step, batch, clock);
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
    Phase held = family;
    const double timed = sum(family) > most ? hold_to(held, most) : 1;
    if (timed <= clock) {  // as it was measured
      family = held;
      continue;
    }
    const double share = std::clamp(clock / timed, kLowest, 1.0), place = (1 - share) / kClockStep;
    const auto above = std::min(static_cast<std::size_t>(place), kClockSteps - 1);
    const double below = place - static_cast<double>(above);
    const Seconds as_timed = family.time;
    if (above > 0 || below > 0) {
      const Phase hot = phase(above, f), cool = phase(std::min(above + 1, kClockSteps - 1), f);
      family.time = (1 - below) * hot.time + below * cool.time;
      for (std::size_t i = 0; i < kResources; ++i) family.busy[i] = (1 - below) * hot.busy[i] + below * cool.busy[i];
    }
    at_law(family, clock, family.time / as_timed);
  }
  if (before > Seconds()) step.extrapolated *= step.time() / before;
}

std::unique_ptr<StepModel> at_clock(std::shared_ptr<TimedClocks> clocks, double clock) {
  return std::make_unique<AtOneClock>(std::move(clocks), clock);
}

}  // namespace llmscape::hardware
