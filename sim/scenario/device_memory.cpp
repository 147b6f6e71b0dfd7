// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/device_memory.hpp"

#include <algorithm>
#include <numeric>

namespace llmscape::scenario {
namespace {

Bytes weights_of(const Scenario& scenario, const PoolConfig& pool) {
  return models::memory_need(scenario.model_of(pool), pool.plan(), 1, 1).weights;
}

// Of the models that may be resident at once, the largest.
Bytes resident_weights(const Scenario& scenario, const PoolConfig& pool) {
  std::vector<Bytes> weights;
  for (const std::string& name : pool.models) {
    PoolConfig tenant = pool;
    tenant.model = name == kMainModel ? std::nullopt : std::optional(name);
    weights.push_back(weights_of(scenario, tenant));
  }
  std::ranges::sort(weights, std::greater());
  const auto resident = std::min(weights.size(), static_cast<std::size_t>(pool.take_turns.resident));
  return std::accumulate(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(resident), Bytes());
}

}  // namespace

engine::KvPool kv_pool(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  return engine::kv_pool(device, scenario.model_on(pool, device), pool.plan(), pool.gpu_memory_utilization,
                         pool.batcher->max_tokens(), pool.batcher->max_sequences(), resident_adapters(scenario, pool));
}

std::int64_t kv_tokens(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  const engine::KvPool alone = kv_pool(scenario, pool, device);
  if (pool.models.empty()) return beside_draft(alone.tokens, scenario, pool);
  const Bytes left = static_cast<double>(alone.tokens) * alone.need.kv_per_token + alone.need.weights -
                     resident_weights(scenario, pool);
  const double share = left / alone.need.kv_per_token / static_cast<double>(pool.models.size());
  return beside_draft(std::max<std::int64_t>(0, static_cast<std::int64_t>(share)), scenario, pool);
}

std::optional<BytesPerSecond> load_bandwidth(const PoolConfig& pool, const hardware::Device& device) {
  return pool.take_turns.load_bandwidth ? pool.take_turns.load_bandwidth : device.load_bandwidth();
}

Seconds load_time(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  return weights_of(scenario, pool) / *load_bandwidth(pool, device);
}

std::optional<Seconds> cold_start(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  if (!pool.cold_start) return std::nullopt;
  const auto bandwidth = pool.cold_start->bandwidth ? pool.cold_start->bandwidth : load_bandwidth(pool, device);
  if (!bandwidth) return std::nullopt;
  return pool.cold_start->boot + weights_of(scenario, pool) / *bandwidth;
}

}  // namespace llmscape::scenario
