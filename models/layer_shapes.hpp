// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "models/model.hpp"

namespace llmscape::models {

// The weights of one layer as one rank holds them (cost-model 2.1, 2.4, 2.5): what parameter counts, memory and the
// GEMMs of a step are all made from. `tensor` is the tensor-parallel degree; 1 gives the whole layer.

// A linear layer k -> n.
struct Linear {
  std::int64_t k = 0, n = 0;
  bool bias = false;
  [[nodiscard]] std::int64_t parameters() const { return k * n + (bias ? n : 0); }
};

// The projections around the attention, in order of execution: q, k and v fused, then the output. Latent attention: q
// (in two steps if it has a rank), the latent, the output; its expansion stands apart because it depends on the phase.
std::vector<Linear> projections(std::int64_t hidden, const Attention& attention, int tensor);
// kv_b of latent attention: expands one latent to the keys and values of the rank's heads, or, absorbed, carries one
// token's queries into the latent space and its outputs back. Both cost the same.
Linear latent_expansion(const Attention& attention, int tensor);
// Up (fused with the gate, if there is one) and down of a dense layer, the shared experts or one expert of `width`, cut
// over `shards` ranks.
std::array<Linear, 2> feed_forward(std::int64_t hidden, std::int64_t width, const FeedForward& kind, int shards);
Linear router(std::int64_t hidden, const FeedForward& kind);

// Parameters of one layer on one rank: what every token passes through, and one routed expert (0 in a dense layer) that
// is cut over `expert_shards` ranks.
struct LayerParameters {
  std::int64_t common = 0;
  std::int64_t expert = 0;
};
LayerParameters layer_parameters(std::int64_t hidden, const LayerGroup& group, int tensor, int expert_shards);

// Parameters outside the layers that every token passes through, head aside: the final norm, and the projections of a
// narrow embedding into the layers and out of them.
std::int64_t frame_parameters(const ModelSpec& model);

}  // namespace llmscape::models
