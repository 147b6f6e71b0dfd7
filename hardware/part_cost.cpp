// SPDX-License-Identifier: Apache-2.0
#include "hardware/part_cost.hpp"

#include <algorithm>

namespace llmscape::hardware {
namespace {

// bound_of() where only arithmetic and memory can be waited for, without a division: this is done in every step.
Bound bound_of(Seconds time, Flops flops, Bytes bytes, const Rates& rates) {
  const double arithmetic = flops.si() * rates.memory.si(), memory = bytes.si() * rates.bf16.si();
  const double filled = kFilled * time.si() * rates.bf16.si() * rates.memory.si();
  if (std::max(arithmetic, memory) < filled) return Bound::overhead;
  return arithmetic > memory ? Bound::arithmetic : Bound::memory;
}

// The joules of all devices' kernels, none above what they drew when they were timed: at a limit their clocks fell.
void keep_below(Phase& phase, const PowerModel& power, int devices) {
  const Joules traffic = phase.energy_of(EnergyComponent::memory) + phase.energy_of(EnergyComponent::interconnect);
  const Joules all = phase.energy_of(EnergyComponent::active) + phase.energy_of(EnergyComponent::compute) + traffic;
  const Joules most = devices * (*power.most * phase.time);
  if (all <= most) return;
  const double kept = most / all;
  for (Joules& energy : phase.energy) energy *= kept;
}

}  // namespace

void PartCost::add(OperatorFamily family, const KernelCost& cost, Joules arithmetic, int count) {
  const auto f = static_cast<std::size_t>(family);
  by_family[f] += count * cost.time;
  bf16_flops[f] += count * cost.bf16_flops;
  bytes[f] += count * cost.bytes;
  work[f] += count * arithmetic;
  flops += count * cost.flops;
  padding += count * cost.padding;
  expert_bytes += count * cost.expert_bytes;
}

PartCost& PartCost::operator+=(const PartCost& other) {
  for (std::size_t i = 0; i < by_family.size(); ++i) by_family[i] += other.by_family[i];
  for (std::size_t i = 0; i < bf16_flops.size(); ++i) bf16_flops[i] += other.bf16_flops[i];
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] += other.bytes[i];
  for (std::size_t i = 0; i < work.size(); ++i) work[i] += other.work[i];
  flops += other.flops;
  padding += other.padding;
  link_bytes += other.link_bytes;
  expert_bytes += other.expert_bytes;
  extrapolated += other.extrapolated;
  outside |= other.outside;
  return *this;
}

Phase phase_of(OperatorFamily family, const FamilyCost& cost, const Rates& rates, const PowerModel& power,
               int devices) {
  Phase phase;
  phase.time = cost.time;
  phase.bytes = cost.bytes;
  phase.busy_of(Resource::arithmetic) = cost.bf16_flops / rates.bf16;
  phase.busy_of(Resource::memory) = cost.bytes / rates.memory;
  phase.energy_of(EnergyComponent::active) = devices * (power.active * cost.time);
  phase.energy_of(EnergyComponent::compute) = devices * cost.work;
  phase.energy_of(EnergyComponent::memory) = devices * (cost.bytes * power.memory);
  if (family == OperatorFamily::collective) {
    phase.busy_of(Resource::links) = cost.time;
    phase.energy_of(EnergyComponent::interconnect) = devices * (cost.link_bytes * power.link);
    phase.bound = Bound::links;
  } else {
    phase.bound = bound_of(cost.time, cost.bf16_flops, cost.bytes, rates);
  }
  if (power.most) keep_below(phase, power, devices);
  return phase;
}

StepPhases phases_of(const PartCost& part, const Rates& rates, const PowerModel& power, int devices) {
  StepPhases phases;
  phases.extrapolated = part.extrapolated;
  phases.flops = part.flops;
  phases.expert_bytes = part.expert_bytes;
  for (std::size_t f = 0; f < kOperatorFamilies; ++f)
    if (part.by_family[f] != Seconds())
      phases.of(f) = phase_of(static_cast<OperatorFamily>(f), part.family(f), rates, power, devices);
  return phases;
}

}  // namespace llmscape::hardware
