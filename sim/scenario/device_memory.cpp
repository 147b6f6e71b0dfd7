// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "sim/scenario/engine_versions.hpp"
#include "sim/scenario/speculation.hpp"

namespace llmscape::scenario {
namespace {

// Of the model, and of what makes drafts for it.
Bytes loaded_weights(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  return device.weights(scenario.model_of(pool), pool.plan()) +
         draft_memory(scenario, pool, device).value_or(models::MemoryNeed()).weights;
}

std::vector<PoolConfig> tenants_of(const PoolConfig& pool) {
  std::vector<PoolConfig> tenants;
  for (const std::string& name : pool.models) {
    tenants.push_back(pool);
    tenants.back().model = name == kMainModel ? std::nullopt : std::optional(name);
  }
  return tenants;
}

// Of the models that may be resident at once, the largest, each with its own adapters and what makes its drafts.
Bytes resident_models(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  std::vector<Bytes> models;
  for (const PoolConfig& tenant : tenants_of(pool))
    models.push_back(device.memory_need(scenario.model_of(tenant), tenant.plan(), 1, 1).weights +
                     resident_adapters(scenario, tenant) + draft_weights_beside_kv(scenario, tenant, device));
  std::ranges::sort(models, std::greater());
  const auto resident = std::min(models.size(), static_cast<std::size_t>(pool.take_turns.resident));
  return std::accumulate(models.begin(), models.begin() + static_cast<std::ptrdiff_t>(resident), Bytes());
}

// From a version on, until the next row of the same engine; engines without a row hold back what HeldBack says. vLLM:
// - It samples max_num_seqs rows in its profile run (_dummy_sampler_run): logits gathered in 2 bytes and widened to 4,
//   sorted with 64-bit indices for top-k and top-p (12, and as much again while they are sorted), masks and sums: 39
//   bytes are what the 2,588 blocks leave that it found for Llama-3.1-8B on an RTX 4090.
// - From 0.8 to 0.9.0 its first engine counts all that the device holds, the process's own context too (gpu_worker.py,
//   determine_available_memory; some 0.45 GB, from memory); later ones take the difference to a snapshot.
// - Logs of 0.22.1 with gpt-oss-120b on 2, 4 and 8 H200 (0.9 of 139.8 GiB, less weights and KV: 2.67, 2.33 and 2.31
//   GiB), less activations and the device's own runtime memory: 2.0, 1.8 and 1.8 GB for collectives.
struct OfEngine {
  std::string_view engine, from;
  engine::HeldBack held;
};
constexpr Bytes kVllmContext(0.45e9), kVllmCommunicators(1.9e9);
constexpr std::array kHeldBack = {OfEngine{"vllm", "0", {39, Bytes(), kVllmCommunicators}},
                                  OfEngine{"vllm", "0.8", {39, kVllmContext, kVllmCommunicators}},
                                  OfEngine{"vllm", "0.9.1", {39, Bytes(), kVllmCommunicators}}};

engine::HeldBack held_back(const PoolConfig& pool) {
  engine::HeldBack found;
  for (const OfEngine& row : kHeldBack)
    if (row.engine == pool.engine.name && compare_versions(row.from, pool.engine.version) <= 0) found = row.held;
  return found;
}

}  // namespace

engine::KvPool kv_pool(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  return engine::kv_pool(device, scenario.model_on(pool, device), pool.plan(), pool.gpu_memory_utilization,
                         pool.batcher->max_tokens(), pool.batcher->max_sequences(), resident_adapters(scenario, pool),
                         held_back(pool));
}

std::int64_t kv_tokens(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  const engine::KvPool alone = kv_pool(scenario, pool, device);
  if (pool.models.empty()) return beside_draft(alone.tokens, scenario, pool, device);
  const Bytes left = static_cast<double>(alone.tokens) * alone.need.kv_per_token + alone.need.weights + alone.adapters -
                     resident_models(scenario, pool, device);
  const auto models = static_cast<double>(pool.models.size());
  if (draft_memory(scenario, pool, device)) return tokens_with_drafts(left / models, scenario, pool, device);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(left / alone.need.kv_per_token / models));
}

std::optional<BytesPerSecond> load_bandwidth(const PoolConfig& pool, const hardware::Device& device) {
  return pool.take_turns.load_bandwidth ? pool.take_turns.load_bandwidth : device.load_bandwidth();
}

Seconds load_time(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  return loaded_weights(scenario, pool, device) / *load_bandwidth(pool, device);
}

std::string models_beyond_storage(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  const auto storage = device.storage();
  if (pool.models.empty() || pool.take_turns.load_bandwidth || !storage) return "";
  Bytes all;
  for (const PoolConfig& tenant : tenants_of(pool)) all += loaded_weights(scenario, tenant, device);
  if (all <= *storage) return "";
  return fmt::format(
      "the {} models that take turns have {:.1f} GB of weights on each '{}', and the memory that they are loaded from "
      "keeps {:.1f} GB",
      pool.models.size(), all.si() / 1e9, device.name, storage->si() / 1e9);
}

std::optional<Seconds> cold_start(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device) {
  if (!pool.cold_start) return std::nullopt;
  const auto bandwidth = pool.cold_start->bandwidth ? pool.cold_start->bandwidth : load_bandwidth(pool, device);
  if (!bandwidth) return std::nullopt;
  return pool.cold_start->boot + loaded_weights(scenario, pool, device) / *bandwidth;
}

}  // namespace llmscape::scenario
