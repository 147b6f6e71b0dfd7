// SPDX-License-Identifier: Apache-2.0
#include "hardware/split/part.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hardware/kv_pool.hpp"

namespace llmscape::hardware {

models::ParallelPlan plan_of(const Device& part) { return {.tensor = static_cast<int>(part.count)}; }

Watts idle_power_of(const Device& part) { return static_cast<double>(part.count) * part.idle_power(); }

Bytes memory_of(const Device& part) { return static_cast<double>(part.count) * part.memory(); }

std::int64_t kv_tokens_of(const Device& part, const models::ModelSpec& model, double utilisation, Bytes besides) {
  const KvPool pool = kv_pool(part, model, plan_of(part), utilisation, 1, 1);
  const double taken = besides / static_cast<double>(part.count) / pool.need.kv_per_token;
  return std::max<std::int64_t>(0, pool.tokens - static_cast<std::int64_t>(std::ceil(taken)));
}

std::vector<std::string> problems_of(const std::string& role, const Device& part, const models::ModelSpec& model) {
  std::vector<std::string> found = models::problems(plan_of(part), model);
  const std::vector<std::string> own = part.problems(model, plan_of(part));
  found.insert(found.end(), own.begin(), own.end());
  for (std::string& problem : found) problem = fmt::format("{}: {}", role, problem);
  return found;
}

void add_time(StepCost& sum, const StepCost& part, std::size_t family) {
  if (part.by_family[family] > sum.by_family[family]) sum.bound[family] = part.bound[family];
  sum.by_family[family] += part.by_family[family];
}

void add_work(StepCost& sum, const StepCost& part, const Device& device, double share) {
  constexpr auto kHost = static_cast<std::size_t>(OperatorFamily::host);
  sum.host = std::max(sum.host, part.host);
  sum.launch = std::max(sum.launch, part.launch);
  sum.by_family[kHost] = sum.host + (sum.stage() - sum.device);
  sum.sync = std::max(sum.sync, part.sync);
  sum.extrapolated += share * part.extrapolated;
  for (std::size_t i = 0; i < part.energy.size(); ++i) sum.energy[i] += part.energy[i];
  for (std::size_t i = 0; i < part.energy_by_family.size(); ++i) sum.energy_by_family[i] += part.energy_by_family[i];
  for (std::size_t i = 0; i < part.busy.size(); ++i) sum.busy[i] += part.busy[i];
  sum.flops += static_cast<double>(device.count) * part.flops;
  sum.bytes += static_cast<double>(device.count) * part.bytes;
}

}  // namespace llmscape::hardware
