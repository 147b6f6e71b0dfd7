// SPDX-License-Identifier: Apache-2.0
#include "hardware/split/part.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmscape::hardware {

models::ParallelPlan plan_of(const Device& part) { return {.tensor = static_cast<int>(part.count)}; }

Watts idle_power_of(const Device& part) { return static_cast<double>(part.count) * part.idle_power(); }

Watts headroom_of(std::span<const PartDevice> parts) {
  Watts largest;
  for (const PartDevice& part : parts) {
    const Watts own = static_cast<double>(part->count) * part->headroom();
    if (own <= Watts()) return {};
    largest = std::max(largest, own);
  }
  return largest;
}

Bytes memory_of(const Device& part) { return static_cast<double>(part.count) * part.memory(); }

EnergyBoundary boundary_of(EnergyBoundary stated, std::span<const PartDevice> parts) {
  const EnergyBoundary first = parts.front()->boundary();
  const bool alike = std::ranges::all_of(parts, [first](const PartDevice& part) { return part->boundary() == first; });
  return stated == EnergyBoundary::unstated && alike ? first : stated;
}

EnergyTags weaker(const EnergyTags& a, const EnergyTags& b) {
  EnergyTags tags{weaker(a.dynamic, b.dynamic), weaker(a.idle, b.idle)};
  if (a.link || b.link) tags.link = weaker(a.link.value_or(a.dynamic), b.link.value_or(b.dynamic));
  return tags;
}

std::optional<Arithmetic> common(const std::optional<Arithmetic>& a, const std::optional<Arithmetic>& b) {
  if (!a || !b) return std::nullopt;
  Arithmetic both{a->int8 && b->int8, a->fp8 && b->fp8, a->fp4 && b->fp4, a->widens.empty() ? b->widens : a->widens};
  if (!b->widens.empty())
    std::erase_if(both.widens,
                  [&](const std::string& format) { return std::ranges::find(b->widens, format) == b->widens.end(); });
  return both;
}

std::vector<std::string> problems_of(const std::string& role, const Device& part, const models::ModelSpec& model) {
  std::vector<std::string> found = models::problems(plan_of(part), model);
  const std::vector<std::string> own = part.problems(model, plan_of(part));
  found.insert(found.end(), own.begin(), own.end());
  for (std::string& problem : found) problem = fmt::format("{}: {}", role, problem);
  return found;
}

void add_time(StepPhases& sum, const StepPhases& part, std::size_t family) {
  if (!part.has(family)) return;
  Phase& phase = sum.of(family);
  const Phase& more = part.at(family);
  if (more.time > phase.time) phase.bound = more.bound;
  phase.time += more.time;
}

void add_work(StepPhases& sum, const StepPhases& part, const Device& device) {
  const auto devices = static_cast<double>(device.count);
  for (std::size_t f = 0; f < kOperatorFamilies; ++f) {
    if (!part.has(f)) continue;
    Phase& phase = sum.of(f);
    const Phase& more = part.at(f);
    for (std::size_t i = 0; i < kEnergyComponents; ++i) phase.energy[i] += more.energy[i];
    for (std::size_t i = 0; i < kResources; ++i) phase.busy[i] += more.busy[i];
    phase.bytes += devices * more.bytes;
  }
  sum.flops += devices * part.flops;
  sum.expert_bytes += devices * part.expert_bytes;
}

}  // namespace llmscape::hardware
