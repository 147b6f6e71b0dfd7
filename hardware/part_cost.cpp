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

}  // namespace

void PartCost::add(OperatorFamily family, const KernelCost& cost, Joules arithmetic, int count) {
  const auto f = static_cast<std::size_t>(family);
  by_family[f] += count * cost.time;
  bf16_flops[f] += count * cost.bf16_flops;
  bytes[f] += count * cost.bytes;
  work[f] += count * arithmetic;
  flops += count * cost.flops;
  expert_bytes += count * cost.expert_bytes;
}

PartCost& PartCost::operator+=(const PartCost& other) {
  for (std::size_t i = 0; i < by_family.size(); ++i) by_family[i] += other.by_family[i];
  for (std::size_t i = 0; i < bf16_flops.size(); ++i) bf16_flops[i] += other.bf16_flops[i];
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] += other.bytes[i];
  for (std::size_t i = 0; i < work.size(); ++i) work[i] += other.work[i];
  flops += other.flops;
  link_bytes += other.link_bytes;
  expert_bytes += other.expert_bytes;
  extrapolated += other.extrapolated;
  return *this;
}

StepPhases phases_of(const PartCost& part, const Rates& rates, const PowerModel& power, int devices) {
  StepPhases phases;
  phases.extrapolated = part.extrapolated;
  phases.flops = part.flops;
  phases.expert_bytes = part.expert_bytes;
  for (std::size_t f = 0; f < kOperatorFamilies; ++f) {
    if (part.by_family[f] == Seconds()) continue;
    Phase& phase = phases.of(f);
    phase.time = part.by_family[f];
    phase.bytes = part.bytes[f];
    phase.busy_of(Resource::arithmetic) = part.bf16_flops[f] / rates.bf16;
    phase.busy_of(Resource::memory) = part.bytes[f] / rates.memory;
    phase.energy_of(EnergyComponent::active) = devices * (power.active * part.by_family[f]);
    phase.energy_of(EnergyComponent::compute) = devices * part.work[f];
    phase.energy_of(EnergyComponent::memory) = devices * (part.bytes[f] * power.memory);
    phase.bound = bound_of(part.by_family[f], part.bf16_flops[f], part.bytes[f], rates);
  }
  constexpr auto kCollective = static_cast<std::size_t>(OperatorFamily::collective);
  if (phases.has(kCollective)) {
    Phase& collective = phases.of(kCollective);
    collective.busy_of(Resource::links) = collective.time;
    collective.energy_of(EnergyComponent::interconnect) = devices * (part.link_bytes * power.link);
    collective.bound = Bound::links;
  }
  return phases;
}

}  // namespace llmscape::hardware
