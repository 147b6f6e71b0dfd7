// SPDX-License-Identifier: Apache-2.0
#include "hardware/step_cost.hpp"

#include <algorithm>

namespace llmscape::hardware {

Bound bound_of(Seconds time, const std::array<Seconds, kResources>& busy) {
  const auto longest = std::ranges::max_element(busy);
  if (*longest < kFilled * time || *longest == Seconds()) return Bound::overhead;
  return static_cast<Bound>(longest - busy.begin() + 1);
}

Seconds StepPhases::time() const {
  Seconds sum;
  for (std::size_t f = 0; f < kOperatorFamilies; ++f)
    if (has(f)) sum += at(f).time;
  return sum;
}

Joules StepPhases::energy() const {
  Joules sum;
  for (std::size_t f = 0; f < kOperatorFamilies; ++f)
    if (has(f)) {
      const Phase& phase = at(f);
#pragma GCC unroll 7
      for (std::size_t i = 0; i < kEnergyComponents; ++i) sum += phase.energy[i];
    }
  return sum;
}

void StepCost::add(const StepCost& other, double share) {
  for (std::size_t f = 0; f < kOperatorFamilies; ++f) {
    const Seconds time = share * other.by_family[f];
    if (time > by_family[f]) bound[f] = other.bound[f];
    by_family[f] += time;
  }
  add_energy(other, share);
  for (std::size_t i = 0; i < kResources; ++i) busy[i] += share * other.busy[i];
  device += share * other.device;
  extrapolated += share * other.extrapolated;
  flops += share * other.flops;
  bytes += share * other.bytes;
  expert_bytes += share * other.expert_bytes;
}

void StepCost::add_energy(const StepCost& other, double share) {
  for (std::size_t i = 0; i < kEnergyComponents; ++i) energy[i] += share * other.energy[i];
  for (std::size_t f = 0; f < kOperatorFamilies; ++f) energy_by_family[f] += share * other.energy_by_family[f];
}

StepCost cost_of(const StepPhases& phases) {
  StepCost cost;
  // In registers: this is done in every step.
  std::array<Joules, kEnergyComponents> energy{};
  std::array<Seconds, kResources> busy{};
  for (std::size_t f = 0; f < kOperatorFamilies; ++f) {
    if (!phases.has(f)) continue;
    const Phase& phase = phases.at(f);
    cost.by_family[f] = phase.time;
    cost.bound[f] = phase.bound;
    cost.device += phase.time;
    cost.bytes += phase.bytes;
    Joules joules;
#pragma GCC unroll 7
    for (std::size_t i = 0; i < kEnergyComponents; ++i) {
      energy[i] += phase.energy[i];
      joules += phase.energy[i];
    }
    cost.energy_by_family[f] = joules;
#pragma GCC unroll 5
    for (std::size_t i = 0; i < kResources; ++i) busy[i] += phase.busy[i];
  }
  cost.energy = energy;
  for (std::size_t i = 0; i < kResources; ++i) cost.busy[i] = std::min(busy[i], cost.device);
  cost.extrapolated = phases.extrapolated;
  cost.tabled = phases.tabled;
  cost.flops = phases.flops;
  cost.expert_bytes = phases.expert_bytes;
  return cost;
}

}  // namespace llmscape::hardware
