// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "hardware/device.hpp"

namespace llmscape::engine {

// What an engine holds back from the pool, beside weights, a forward pass and what the device itself needs. Of devices
// that state no runtime memory (processors, dataflow machines) it holds nothing back.
struct HeldBack {
  // Of the sampler in a profiled step, for each logit of max_sequences rows (at most the tokens of the step). It runs
  // behind the forward pass, so that the larger of the two is the peak. 0: the engine does not sample then.
  double bytes_per_logit = 0;
  // Context, workspaces and captured graphs, where the engine counts them: 1 GB with the device's.
  Bytes runtime = Bytes(0.92e9);
  // Of ranks of several devices: NCCL's channels, buffers of custom and fused all-reduces.
  Bytes communicators;
};

// What one rank of a replica does with its device's memory.
struct KvPool {
  Bytes offered;  // utilisation x memory
  models::MemoryNeed need;
  Bytes profiled;  // the peak of the profiled step: activations of a forward pass, or the sampler
  Bytes runtime;   // contexts, communicators, graphs
  Bytes adapters;  // low-rank adapters that stay resident
  // Of KV that fit into the rest; 0: the model does not fit. Where nothing grows with the context: sequences whose
  // states do.
  std::int64_t tokens = 0;
  Bytes missing;  // how much more the device would have to offer to hold a single one; 0 when it fits
};

// vLLM's rule: what the engine may use, less weights, the peak of a profiled step at `max_batched_tokens` and runtime
// memory (engines.md 1), and less what resident adapters take of a rank. Devices that state their own capacity
// (stated_kv_tokens) are believed.
KvPool kv_pool(const hardware::Device& device, const models::ModelSpec& model, const models::ParallelPlan& plan,
               double utilisation, std::int64_t max_batched_tokens, std::int64_t max_sequences,
               Bytes adapters = Bytes(), const HeldBack& held = {});

// What the device says itself, or what the smallest of its parts holds; 0: neither, the rule above holds for it.
std::int64_t stated_kv_tokens(const hardware::Device& device, const models::ModelSpec& model,
                              const models::ParallelPlan& plan);

// One sentence for each part of the device whose share of the weights leaves no memory for KV.
std::vector<std::string> kv_problems(const hardware::Device& device, const models::ModelSpec& model);

}  // namespace llmscape::engine
