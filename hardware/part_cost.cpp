// SPDX-License-Identifier: Apache-2.0
#include "hardware/part_cost.hpp"

namespace llmscape::hardware {
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

namespace {

// Two at a time: the arrays are of two parts, or the same.
template <class T>
void add_each(std::array<T, kOperatorFamilies>& sums, const std::array<T, kOperatorFamilies>& more) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
}

}  // namespace

PartCost& PartCost::operator+=(const PartCost& other) {
  add_each(by_family, other.by_family);
  add_each(bf16_flops, other.bf16_flops);
  add_each(bytes, other.bytes);
  add_each(work, other.work);
  add_each(launch, other.launch);
  flops += other.flops;
  padding += other.padding;
  link_bytes += other.link_bytes;
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
