// SPDX-License-Identifier: Apache-2.0
#include "hardware/part_cost.hpp"

#include <algorithm>

namespace llmscape::hardware {

void PartCost::add(OperatorFamily family, const KernelCost& cost, int count) {
  by_family[static_cast<std::size_t>(family)] += count * cost.time;
  flops += count * cost.flops;
  bf16_flops += count * cost.bf16_flops;
  bytes += count * cost.bytes;
}

PartCost& PartCost::operator+=(const PartCost& other) {
  for (std::size_t i = 0; i < by_family.size(); ++i) by_family[i] += other.by_family[i];
  flops += other.flops;
  bf16_flops += other.bf16_flops;
  bytes += other.bytes;
  link_bytes += other.link_bytes;
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
  cost.bytes = part.bytes;

  const Joules compute = part.bf16_flops * power.compute;
  const Joules memory = part.bytes * power.memory;
  const Joules link = part.link_bytes * power.link;
  const Seconds at_limit = (compute + memory + link) / (power.limit - power.idle);
  if (at_limit > cost.device) {
    for (Seconds& family : cost.by_family) family *= at_limit / cost.device;
    cost.extrapolated *= at_limit / cost.device;
    cost.device = at_limit;
  }
  cost.by_family[static_cast<std::size_t>(OperatorFamily::host)] = host;
  cost.energy = {devices * compute, devices * memory, devices * link};

  // Reads from a cache can beat the memory's bandwidth.
  const auto keep_busy = [&cost](Resource resource, Seconds time) {
    cost.busy[static_cast<std::size_t>(resource)] = std::min(time, cost.device);
  };
  keep_busy(Resource::arithmetic, part.bf16_flops / rates.bf16);
  keep_busy(Resource::memory, part.bytes / rates.memory);
  keep_busy(Resource::links, part.of(OperatorFamily::collective));
  return cost;
}

}  // namespace llmscape::hardware
