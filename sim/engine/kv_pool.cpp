// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/kv_pool.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmscape::engine {
namespace {

std::int64_t tokens_of(const hardware::KvPart& part) {
  const models::ParallelPlan plan{.tensor = static_cast<int>(part.device->count)};
  const KvPool pool = kv_pool(*part.device, part.model, plan, part.utilization, 1, 1);
  const double taken = part.besides / static_cast<double>(part.device->count) / pool.need.kv_per_token;
  return std::max<std::int64_t>(0, pool.tokens - static_cast<std::int64_t>(std::ceil(taken)));
}

}  // namespace

KvPool kv_pool(const hardware::Device& device, const models::ModelSpec& model, const models::ParallelPlan& plan,
               double utilisation, std::int64_t max_batched_tokens, std::int64_t max_sequences, Bytes adapters,
               const HeldBack& held) {
  KvPool pool;
  pool.offered = device.memory() * utilisation;
  pool.need = device.memory_need(model, plan, max_batched_tokens, max_sequences);
  const auto sampled = static_cast<double>(std::min(max_sequences, max_batched_tokens) * model.vocabulary);
  pool.profiled = std::max(pool.need.activations, Bytes(held.bytes_per_logit * sampled));
  pool.runtime = device.runtime_memory();
  if (pool.runtime > Bytes()) pool.runtime += held.runtime + (plan.all_devices() > 1 ? held.communicators : Bytes());
  pool.adapters = adapters;
  const Bytes left = pool.offered - pool.need.weights - pool.profiled - pool.runtime - pool.adapters;
  const std::int64_t stated = stated_kv_tokens(device, model, plan);
  const Bytes least = pool.need.kv_per_token > Bytes() ? pool.need.kv_per_token : pool.need.state_per_sequence;
  pool.tokens = stated > 0 ? stated : std::max<std::int64_t>(0, static_cast<std::int64_t>(left / least));
  if (stated <= 0 && left < least) pool.missing = least - left;
  return pool;
}

std::int64_t stated_kv_tokens(const hardware::Device& device, const models::ModelSpec& model,
                              const models::ParallelPlan& plan) {
  const std::vector<hardware::KvPart> parts = device.kv_parts(model);
  if (parts.empty()) return device.kv_tokens(model, plan);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const hardware::KvPart& part : parts) least = std::min(least, tokens_of(part));
  return least;
}

std::vector<std::string> kv_problems(const hardware::Device& device, const models::ModelSpec& model) {
  std::vector<std::string> found;
  for (const hardware::KvPart& part : device.kv_parts(model))
    if (tokens_of(part) == 0) found.push_back(part.role + ": its weights leave no memory for KV");
  return found;
}

}  // namespace llmscape::engine
