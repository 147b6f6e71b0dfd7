// SPDX-License-Identifier: Apache-2.0
#include "hardware/part_cost.hpp"

#include <algorithm>

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
  for (std::size_t i = 0; i < by_family.size(); ++i) by_family[i] += other.by_family[i];
  for (std::size_t i = 0; i < bf16_flops.size(); ++i) bf16_flops[i] += other.bf16_flops[i];
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] += other.bytes[i];
  for (std::size_t i = 0; i < work.size(); ++i) work[i] += other.work[i];
  for (std::size_t i = 0; i < launch.size(); ++i) launch[i] += other.launch[i];
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

}  // namespace llmscape::hardware
