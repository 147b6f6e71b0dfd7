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

void PartCost::add(OperatorFamily family, const KernelCost& cost, int count) {
  const auto f = static_cast<std::size_t>(family);
  by_family[f] += count * cost.time;
  bf16_flops[f] += count * cost.bf16_flops;
  bytes[f] += count * cost.bytes;
  flops += count * cost.flops;
  expert_bytes += count * cost.expert_bytes;
}

PartCost& PartCost::operator+=(const PartCost& other) {
  for (std::size_t i = 0; i < by_family.size(); ++i) by_family[i] += other.by_family[i];
  for (std::size_t i = 0; i < bf16_flops.size(); ++i) bf16_flops[i] += other.bf16_flops[i];
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] += other.bytes[i];
  flops += other.flops;
  link_bytes += other.link_bytes;
  expert_bytes += other.expert_bytes;
  extrapolated += other.extrapolated;
  return *this;
}

StepCost step_cost(const PartCost& part, Seconds host, const Rates& rates, const PowerModel& power, int devices) {
  StepCost cost;
  cost.device = part.time();
  cost.by_family = part.by_family;
  cost.host = host;
  cost.extrapolated = part.extrapolated;
  cost.flops = part.flops;
  cost.expert_bytes = part.expert_bytes;

  constexpr auto kCollective = static_cast<std::size_t>(OperatorFamily::collective);
  Flops bf16_flops;
  for (std::size_t f = 0; f < kOperatorFamilies; ++f) {
    if (part.by_family[f] == Seconds()) continue;
    bf16_flops += part.bf16_flops[f];
    cost.bytes += part.bytes[f];
    cost.energy_by_family[f] = devices * (part.bf16_flops[f] * power.compute + part.bytes[f] * power.memory);
    cost.bound[f] = bound_of(part.by_family[f], part.bf16_flops[f], part.bytes[f], rates);
  }
  const Joules compute = bf16_flops * power.compute;
  const Joules memory = cost.bytes * power.memory;
  const Joules link = part.link_bytes * power.link;
  cost.energy_by_family[kCollective] += devices * link;
  cost.bound[kCollective] = Bound::links;
  cost.by_family[static_cast<std::size_t>(OperatorFamily::host)] = host;
  cost.energy = {devices * compute, devices * memory, devices * link};

  // Reads from a cache can beat the memory's bandwidth.
  const auto keep_busy = [&cost](Resource resource, Seconds time) {
    cost.busy[static_cast<std::size_t>(resource)] = std::min(time, cost.device);
  };
  keep_busy(Resource::arithmetic, bf16_flops / rates.bf16);
  keep_busy(Resource::memory, cost.bytes / rates.memory);
  keep_busy(Resource::links, part.of(OperatorFamily::collective));
  return cost;
}

}  // namespace llmscape::hardware
