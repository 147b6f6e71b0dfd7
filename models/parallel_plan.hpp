// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "models/model.hpp"

namespace llmscape::models {

// How one replica's model is cut. A replica has tensor x pipeline devices; expert parallelism reuses the tensor ranks
// (and those of the data-parallel attention groups); data is the number of attention groups that share the experts.
struct ParallelPlan {
  int tensor = 1;
  int pipeline = 1;
  int expert = 1;
  int data = 1;
  [[nodiscard]] int devices() const { return tensor * pipeline * data; }
};

// What is wrong with the plan for this model, one sentence each; empty when it fits. Heads, feed-forward and vocabulary
// must divide by `tensor` (KV heads are replicated when tensor > kv_heads, which must then be a multiple), layers by at
// least one per stage, experts by `expert`, and `expert` divides tensor x data.
std::vector<std::string> problems(const ParallelPlan&, const ModelSpec&);
// KV heads that one tensor rank holds: max(1, kv_heads / tensor).
int kv_heads_per_rank(const Attention&, int tensor);
// Ranks over which each routed expert is cut: tensor x data / expert.
int expert_shards(const ParallelPlan&);
// Layers of the group in one pipeline stage: stages are taken as equal, rounded up.
int layers_per_stage(const LayerGroup&, const ParallelPlan&);

}  // namespace llmscape::models
