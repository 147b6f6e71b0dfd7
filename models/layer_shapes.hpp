// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "models/model.hpp"
#include "models/parallel_plan.hpp"

namespace llmscape::models {

// The weights of one layer as one rank holds them (cost-model 2.1, 2.4, 2.5): what parameter counts, memory and the
// GEMMs of a step are all made from. `tensor` is the tensor-parallel degree; 1 gives the whole layer.

// Up (fused with the gate, if there is one) and down of a dense layer, the shared experts or one expert of `width`, cut
// over `shards` ranks.
std::array<Linear, 2> feed_forward(std::int64_t hidden, std::int64_t width, const FeedForward& kind, int shards);
Linear router(std::int64_t hidden, const FeedForward& kind);

// Parameters of one layer on one rank.
struct LayerParameters {
  std::int64_t common = 0;     // what every token passes through beside attention or a state
  std::int64_t attention = 0;  // theirs, but the projection of their output
  std::int64_t output = 0;     // that
  std::int64_t expert = 0;     // one routed expert, cut over `expert_shards` ranks; 0 in a dense layer
  [[nodiscard]] std::int64_t of_each_token() const { return common + attention + output; }
};
LayerParameters layer_parameters(std::int64_t hidden, const LayerGroup& group, int tensor, int expert_shards);

// The share of a group's layers that one rank of all stages has, and the tokens that pass it.
LayerShare share_of(const ModelSpec& model, const LayerGroup& group, const ParallelPlan& plan,
                    std::int64_t chunk_tokens, std::int64_t decode_tokens);

// Parameters outside the layers that every token passes through, head aside: the final norm, and the projections of a
// narrow embedding into the layers and out of them.
std::int64_t frame_parameters(const ModelSpec& model);

}  // namespace llmscape::models
