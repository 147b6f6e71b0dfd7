// SPDX-License-Identifier: Apache-2.0
#include "hardware/part_cost.hpp"

#include <algorithm>
#include <bit>

#include "hardware/power.hpp"

namespace llmscape::hardware {

Held held_to(Joules most, Joules active, Joules work, Joules traffic) {
  if (most <= Joules()) {  // decodes that shorten the kernel that they share with a chunk
    const double kept = most / (active + work + traffic);
    return {1, kept, kept, kept};
  }
  const double clock = clock_that_takes(most, active, work, traffic), operation = energy_of_operation(clock);
  const double of_active = clock * operation;
  // Below 1 at the lowest clock; elsewhere it is rounding.
  const double kept = std::min(1.0, most / (of_active * active + operation * work + traffic));
  return {clock, kept * of_active, kept * operation, kept};
}

void PartCost::add(OperatorFamily family, const KernelCost& cost, Joules arithmetic, double count) {
  const auto f = static_cast<std::size_t>(family);
  present |= 1U << f;
  by_family[f] += count * cost.time;
  bf16_flops[f] += count * cost.bf16_flops;
  bytes[f] += count * cost.bytes;
  work[f] += count * arithmetic;
  launch[f] += count * cost.launch;
  flops += count * cost.flops;
  padding += count * cost.padding;
  expert_bytes += count * cost.expert_bytes;
}

PartCost& PartCost::operator+=(const PartCost& other) {
  present |= other.present;
  for (unsigned left = other.present; left != 0; left &= left - 1) {  // what is added is mostly of one family or two
    const auto f = static_cast<std::size_t>(std::countr_zero(left));
    by_family[f] += other.by_family[f];
    bf16_flops[f] += other.bf16_flops[f];
    bytes[f] += other.bytes[f];
    work[f] += other.work[f];
    launch[f] += other.launch[f];
  }
  flops += other.flops;
  padding += other.padding;
  link_bytes += other.link_bytes;
  link_wait += other.link_wait;
  expert_bytes += other.expert_bytes;
  extrapolated += other.extrapolated;
  outside |= other.outside;
  return *this;
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

// What phase_of() sets, in registers: other components and resources are 0, and to add a 0 changes no sum.
StepCost cost_of(const PartCost& part, const Rates& rates, const PowerModel& power, int devices) {
  StepCost cost;
  Joules active, compute, memory, interconnect;
  Seconds computing, moving, sending;
  for (std::size_t f = 0; f < kOperatorFamilies; ++f) {
    if (part.by_family[f] == Seconds()) continue;
    Phase phase = phase_of(static_cast<OperatorFamily>(f), part.family(f), rates, power, devices);
    cost.by_family[f] = phase.time;
    cost.bound[f] = phase.bound;
    cost.device += phase.time;
    cost.bytes += phase.bytes;
    active += phase.energy_of(EnergyComponent::active);
    compute += phase.energy_of(EnergyComponent::compute);
    memory += phase.energy_of(EnergyComponent::memory);
    interconnect += phase.energy_of(EnergyComponent::interconnect);
    cost.energy_by_family[f] = phase.energy_of(EnergyComponent::active) + phase.energy_of(EnergyComponent::compute) +
                               phase.energy_of(EnergyComponent::memory) +
                               phase.energy_of(EnergyComponent::interconnect);
    computing += phase.busy_of(Resource::arithmetic);
    moving += phase.busy_of(Resource::memory);
    sending += phase.busy_of(Resource::links);
  }
  const auto joules = [&cost](EnergyComponent of) -> Joules& { return cost.energy[static_cast<std::size_t>(of)]; };
  joules(EnergyComponent::active) = active;
  joules(EnergyComponent::compute) = compute;
  joules(EnergyComponent::memory) = memory;
  joules(EnergyComponent::interconnect) = interconnect;
  const auto busy = [&cost](Resource of) -> Seconds& { return cost.busy[static_cast<std::size_t>(of)]; };
  busy(Resource::arithmetic) = std::min(computing, cost.device);
  busy(Resource::memory) = std::min(moving, cost.device);
  busy(Resource::links) = std::min(sending, cost.device);
  cost.extrapolated = part.extrapolated;
  cost.flops = part.flops;
  cost.expert_bytes = part.expert_bytes;
  return cost;
}

}  // namespace llmscape::hardware
