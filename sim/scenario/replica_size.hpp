// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/serving/replica/memory_ledger.hpp"

namespace llmscape::scenario {

// The serving choices that change what a device's steps cost.
engine::Settings settings_of(const EngineConfig& engine);

// What a replica on the device has to work with.
struct ReplicaSize {
  serving::KvPoolBlocks kv;
  std::int64_t block_tokens = 0;            // of a block
  Bytes block_bytes;                        // of its entries in all layers, a draft model's too, all ranks together
  double entry_share = 1, draft_share = 1;  // of WindowedKv
  std::int64_t max_model_len = 0;
  std::vector<serving::WindowLayers> windows;  // beside them, of layers with a window
  std::vector<serving::WindowPool> window_pools;
  std::string warning;  // the pool is smaller than the longest sequence allowed; else empty
};
// How its KV memory is divided between layers with a window and layers without. Whole entries where others read or keep
// them: vLLM's hybrid manager is off beside a KV connector, and tiers, hosts and KV transfers count the bytes of all
// layers. Blocks beside recurrent states are those of the engine everywhere. Devices that state their own capacity are
// believed.
KvWindows windows_of(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device);
ReplicaSize replica_size(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device);
// What a rank of it holds.
serving::MemoryConfig memory_of(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device,
                                const ReplicaSize& size);

}  // namespace llmscape::scenario
