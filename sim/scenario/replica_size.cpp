// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/replica_size.hpp"

#include <algorithm>

#include "hardware/profile/profile_device.hpp"
#include "sim/scenario/device_memory.hpp"
#include "sim/scenario/execution.hpp"

namespace llmscape::scenario {

engine::Settings settings_of(const EngineConfig& engine) {
  engine::Settings settings;
  settings.graphs.mode = engine.cuda_graphs;
  const std::int64_t decode_tokens =
      engine.batcher->max_sequences() * (1 + (engine.speculation ? engine.speculation->tokens : 0));
  settings.graphs.max_captured =
      engine.max_cudagraph_capture_size.value_or(std::min<std::int64_t>(512, 2 * decode_tokens));
  settings.device.coverage.law = engine.expert_coverage;
  // Drafts of users' devices may be late, and the passes without them are of one token a sequence: they stay unrelated.
  if (engine.speculation && !engine.speculation->draft.device)
    settings.device.coverage.tokens_per_decode = 1 + engine.speculation->tokens;
  settings.device.engine = engine.engine.kernel_set();
  settings.device.execution = execution_of(engine);
  settings.host = {engine.engine.per_step, engine.engine.per_sequence};
  if (engine.lora) settings.device.adapter = {engine.lora->rank, engine.lora->targets};
  return settings;
}

KvWindows windows_of(const Scenario& scenario, const PoolConfig& engine, const hardware::Device& device) {
  const models::ModelSpec& model = scenario.model_of(engine);
  const bool states = models::state_bytes_per_sequence(model) > 0;
  const bool alone = engine.role == serving::Role::any && !scenario.replicas_convert() && engine.places().empty();
  const bool stated = engine::stated_kv_tokens(device, model, engine.plan()) > 0;
  return (alone || states) && !stated ? engine.kv_windows : KvWindows::ignored;
}

namespace {

// Of a token's entries in all layers, all ranks together. A profile does not say what layers its model has: of its
// longest prompt, in the mean.
double kv_bytes_per_token(const models::ModelSpec& model, const hardware::Device& device) {
  const hardware::ProfileDevice* profile = hardware::as_profile(device);
  if (!profile) return models::kv_bytes_per_token(model);
  const hardware::ProfiledPrompt& longest = profile->prompts.back();
  return longest.kv.si() / static_cast<double>(longest.tokens);
}

}  // namespace

ReplicaSize replica_size(const Scenario& scenario, const PoolConfig& engine, const hardware::Device& device) {
  ReplicaSize size;
  const models::ModelSpec& model = scenario.model_of(engine);
  const double tokens = engine.kv_memory_share * static_cast<double>(kv_tokens(scenario, engine, device));
  size.max_model_len = engine.max_model_len.value_or(model.max_position);
  if (const auto longest = engine.batcher->longest()) size.max_model_len = std::min(size.max_model_len, *longest);
  const models::ModelSpec* draft = draft_beside_kv(scenario, engine);
  const KvRoom room{tokens,
                    engine.block_size,
                    size.max_model_len,
                    engine.batcher->depth(),
                    engine.speculation ? engine.speculation->tokens : 0,
                    draft};
  const WindowedKv kv = windowed_kv(model, engine.plan(), windows_of(scenario, engine, device), room);
  for (const WindowBlocks& window : kv.windows) size.windows.push_back({window.most, window.weight});
  for (const OwnWindowPool& pool : kv.pools) size.window_pools.push_back({pool.window, pool.tokens});
  size.block_tokens = kv.block_tokens;
  size.entry_share = kv.entry_share;
  size.draft_share = kv.draft_share;
  size.block_bytes = Bytes((kv_bytes_per_token(model, device) + (draft ? models::kv_bytes_per_token(*draft) : 0)) *
                           static_cast<double>(size.block_tokens));
  size.kv.devices = engine.kv_blocks.value_or(kv.tokens / size.block_tokens) / engine.pipeline_batches;
  for (const serving::KvPlace* place : engine.places())
    size.kv = place->pool(size.kv, size.block_bytes, engine.tenants());
  const std::int64_t held = size.kv.all() * size.block_tokens;
  if (held < size.max_model_len) {
    size.warning = "'" + device.name + (size.kv.below > 0 ? "' with its host holds " : "' holds ") +
                   std::to_string(held) + " tokens of KV, less than the longest sequence allowed (" +
                   std::to_string(size.max_model_len) + "): longer requests go to other replicas, or are dropped";
  }
  return size;
}

serving::MemoryConfig memory_of(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device,
                                const ReplicaSize& size) {
  const models::ModelSpec& model = scenario.model_on(pool, device);
  const models::Execution execution = execution_of(pool);
  const models::MemoryNeed need = device.memory_need(model, pool.plan(), 1, 1);
  const models::MemoryNeed draft = draft_memory(scenario, pool, device).value_or(models::MemoryNeed());
  serving::MemoryConfig memory;
  memory.weights = need.weights + resident_adapters(scenario, pool) + draft.weights;
  // In a model of states alone a block is what one sequence keeps.
  memory.block = need.kv_per_token > Bytes()
                     ? static_cast<double>(size.block_tokens) *
                           (size.entry_share * need.kv_per_token + size.draft_share * draft.kv_per_token)
                     : need.state_per_sequence;
  memory.device_blocks = size.kv.devices;
  if (execution.kv_cache == models::KvCacheForm::slots)
    memory.slot_blocks =
        pool.batcher->max_sequences() * ((size.max_model_len + size.block_tokens - 1) / size.block_tokens);
  // Devices that state their own capacity say what of it weights and entries take; what steps need lies elsewhere.
  if (device.kv_tokens(model, pool.plan()) == 0) memory.steps = models::StepMemory(model, pool.plan(), execution);
  return memory;
}

}  // namespace llmscape::scenario
