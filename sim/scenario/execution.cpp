// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/execution.hpp"

#include <fmt/format.h>

#include "models/pool_budget.hpp"
#include "sim/scenario/replica_size.hpp"

namespace llmscape::scenario {

models::Execution execution_of(const EngineConfig& engine) {
  return {engine.engine.kv_cache, engine.max_model_len.value_or(0), engine.engine.attention, engine.engine.logits,
          engine.engine.sampling};
}

std::vector<std::string> execution_problems(const Scenario& scenario, const PoolConfig& pool,
                                            const hardware::Device& device) {
  const models::Execution execution = execution_of(pool);
  std::vector<std::string> problems;
  if (execution.adds_work() && !device.takes_execution())
    problems.push_back(
        "'" + device.name +
        "' prices steps by forms of its own: 'kv_cache: concatenated', 'attention: eager', 'logits: all' "
        "and 'sampling: sorted' are not in them");
  if (execution.kv_cache == models::KvCacheForm::concatenated && pool.cuda_graphs != engine::CudaGraphs::none)
    problems.emplace_back(
        "'kv_cache: concatenated' has other tensors in each step, which no graph can hold: cuda_graphs has to be none");
  if (execution.kv_cache != models::KvCacheForm::slots) return problems;
  if (!pool.max_model_len)
    problems.emplace_back("'kv_cache: static' has slots of serving.max_model_len tokens, which has to be given");
  if (models::PoolBudget(scenario.model_of(pool)).limits())
    problems.emplace_back("'kv_cache: static' keeps whole sequences: no token plan with a KV budget goes with it");
  return problems;
}

std::vector<std::string> slot_problems(const Scenario& scenario, const PoolConfig& pool,
                                       const hardware::Device& device) {
  if (pool.engine.kv_cache != models::KvCacheForm::slots) return {};
  const ReplicaSize size = replica_size(scenario, pool, device);
  const std::int64_t slot = (size.max_model_len + size.block_tokens - 1) / size.block_tokens;
  const std::int64_t slots = pool.batcher->max_sequences();
  if (slot * slots <= size.kv.all()) return {};
  return {
      fmt::format("slots of {} tokens for {} sequences take {} KV blocks: '{}' has {}; fewer sequences of the "
                  "batcher, or a smaller serving.max_model_len",
                  size.max_model_len, slots, slot * slots, device.name, size.kv.all())};
}

}  // namespace llmscape::scenario
