// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "models/model.hpp"

namespace llmscape::models {

// How tokens reach the experts of other data-parallel ranks, and come back.
enum class ExpertExchange {
  // Every rank gathers the hidden states of all, and what its experts give is summed where it came from (vLLM's
  // default,
  // `allgather_reducescatter`). Ranks send as many rows as the one with most tokens.
  all_gather,
  // A token travels once to each rank that holds one of its experts (DeepEP).
  all_to_all
};

// How one replica's model is cut. Expert parallelism reuses the tensor ranks and those of all data-parallel ranks; data
// is the number of ranks with attention of their own that share the experts and step together.
struct ParallelPlan {
  int tensor = 1;
  int pipeline = 1;
  int expert = 1;
  int data = 1;
  ExpertExchange exchange = ExpertExchange::all_to_all;  // where experts are whole; else tokens are gathered
  // Copies of experts beyond one of each (EPLB: DeepSeek-V3's 256 and 32 on 72 or 144 ranks), which share the rows of
  // the experts that they are of. Taken to be placed so that all that are held are as unlike as the experts.
  int redundant_experts = 0;
  // Of one data-parallel rank, and of all.
  [[nodiscard]] int devices() const { return tensor * pipeline; }
  [[nodiscard]] int all_devices() const { return devices() * data; }
};

// What is wrong with the plan for this model, one sentence each; empty when it fits. Heads, feed-forward and vocabulary
// must divide by `tensor` (KV heads are replicated when tensor > kv_heads, which must then be a multiple), layers by at
// least one per stage, experts with their copies by `expert`, and `expert` divides tensor x data.
std::vector<std::string> problems(const ParallelPlan&, const ModelSpec&);
// Experts of a layer with their copies, which the ranks hold as many of as the others.
inline int placed_experts(const ParallelPlan& plan, const FeedForward& layer) {
  return layer.experts + (layer.routed() ? plan.redundant_experts : 0);
}
// Ranks over which each routed expert is cut: tensor x data / expert.
int expert_shards(const ParallelPlan&);
// Of all layers, the share that the fullest pipeline stage holds in its memory: whole layers, taken to be of each group
// as many as of the others.
double share_of_fullest_stage(const ModelSpec&, const ParallelPlan&);

}  // namespace llmscape::models
