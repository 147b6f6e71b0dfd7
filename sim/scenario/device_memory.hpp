// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "sim/engine/kv_pool.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// What the engine settings of the pool leave for KV entries on each of its devices.
engine::KvPool kv_pool(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device);

// Tokens of KV entries of a replica. Models that take turns on the same devices keep their entries while others run:
// what the weights of as many of them as are resident, the largest, leave is divided evenly. 0: they do not fit.
std::int64_t kv_tokens(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device);

// Bandwidth into one device's memory from where weights are kept; nothing: neither the pool nor the device says.
std::optional<BytesPerSecond> load_bandwidth(const PoolConfig& pool, const hardware::Device& device);
// Time to bring the weights of the pool's model, and of what makes drafts for it, into its devices' memory: W / (n BW)
// (cost-model 6).
Seconds load_time(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device);
// Why the memory that a device loads models from cannot keep all that take turns (none is written back when another one
// takes its place, so that each has its copy there); empty: it can, or nothing is known of it.
std::string models_beyond_storage(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device);
// From off until the replica serves: boot time, then its weights. Nothing: not known.
std::optional<Seconds> cold_start(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device);

}  // namespace llmscape::scenario
