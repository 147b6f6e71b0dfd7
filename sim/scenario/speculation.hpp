// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/fields.hpp"
#include "base/sourced.hpp"
#include "sim/engine/engine_model.hpp"
#include "sim/serving/replica/speculation.hpp"

namespace llmscape::scenario {

// Between a device that drafts and the one that verifies; presets are those of uplinks.
struct DraftLinkConfig {
  Sourced<BytesPerSecond> uplink;
  Sourced<Seconds> latency;  // one way
};

// Where drafts come from; with no key they are looked up in the prompt and cost nothing.
struct DraftConfig {
  std::optional<double> share;                     // heads of the model itself
  std::optional<std::string> model;                // a name in the scenario's `models`, or a preset
  std::shared_ptr<const hardware::Device> device;  // of each user; absent: the devices that verify
  std::optional<DraftLinkConfig> link;
  std::optional<Seconds> deadline;  // that a pass waits for drafts of that device at most; absent: while that pays
};

struct SpeculationConfig {
  std::int64_t tokens = 0;  // drafts before each pass
  double acceptance = 0;
  DraftConfig draft;
};
const Fields<SpeculationConfig>& speculation_fields();

struct PoolConfig;
struct Scenario;

// As the replicas of the pool on `device` see it. `longest`: the longest prompt and answer that they serve, in tokens.
serving::Speculation speculation_of(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device,
                                    std::int64_t longest, const RandomStreams& streams);
// Why the pool's drafts cannot be made, one sentence each; of replicas on `device`.
std::vector<std::string> draft_problems(const Scenario& scenario, const PoolConfig& pool,
                                        const hardware::Device& device);
// Of each user, which makes the pool's drafts; nullptr: they are made elsewhere, or not at all.
const hardware::Device* drafting_device(const PoolConfig& pool);
// The steps of a replica, with what its drafts add to them.
std::unique_ptr<engine::EngineModel> with_drafts(std::unique_ptr<engine::EngineModel> steps, const Scenario& scenario,
                                                 const PoolConfig& pool, const hardware::Device& device);
// Weights and KV entries of a draft model, or weights of draft heads, in the memory of the pool's devices; nothing:
// there are none.
std::optional<models::MemoryNeed> draft_memory(const Scenario& scenario, const PoolConfig& pool,
                                               const hardware::Device& device);
// A draft model whose entries lie in that memory; nullptr: there is none.
const models::ModelSpec* draft_beside_kv(const Scenario& scenario, const PoolConfig& pool);
// Of these weights, what lies in the memory that KV entries take.
Bytes draft_weights_beside_kv(const Scenario& scenario, const PoolConfig& pool, const hardware::Device& device);
// KV tokens of the pool's model that `left` bytes of each device's memory hold, with the entries of a draft model for
// each. 0: a memory of weights alone does not hold those of both.
std::int64_t tokens_with_drafts(Bytes left, const Scenario& scenario, const PoolConfig& pool,
                                const hardware::Device& device);
// KV tokens that are left of `tokens` of the pool's model when what makes drafts is kept in the same memory.
std::int64_t beside_draft(std::int64_t tokens, const Scenario& scenario, const PoolConfig& pool,
                          const hardware::Device& device);

}  // namespace llmscape::scenario
