// SPDX-License-Identifier: Apache-2.0
#include "hardware/kv_pool.hpp"

#include <algorithm>

namespace llmscape::hardware {

KvPool kv_pool(const Device& device, const models::ModelSpec& model, const models::ParallelPlan& plan,
               double utilisation, std::int64_t max_batched_tokens, std::int64_t max_sequences, Bytes adapters) {
  KvPool pool;
  pool.offered = device.memory() * utilisation;
  pool.need = models::memory_need(model, plan, max_batched_tokens, max_sequences);
  pool.runtime = device.runtime_memory();
  pool.adapters = adapters;
  const Bytes left = pool.offered - pool.need.weights - pool.need.activations - pool.runtime - pool.adapters;
  const std::int64_t stated = device.kv_tokens(model, plan);
  pool.tokens =
      stated > 0 ? stated : std::max<std::int64_t>(0, static_cast<std::int64_t>(left / pool.need.kv_per_token));
  if (stated <= 0 && left < pool.need.kv_per_token) pool.missing = pool.need.kv_per_token - left;
  return pool;
}

}  // namespace llmscape::hardware
