// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/mixer/mixer.hpp"

namespace llmscape::models {

struct FeedForward {
  std::int64_t width = 0;  // dense width; 0 in a routed layer
  bool gated = true;       // gate and up projections, or up alone
  bool bias = false;
  // Mixture of experts; experts 0: dense.
  int experts = 0;
  int experts_per_token = 0;
  int expert_groups = 1, groups_per_token = 1;  // its experts are chosen from so many of so many groups of them
  std::int64_t expert_width = 0;
  std::int64_t shared_width = 0;  // all shared experts together
  std::int64_t latent = 0;  // width of what goes into and comes out of the routed ones, by a projection each; 0: hidden
  bool latent_norm = false;  // a norm of that width (Kimi-K3)
  [[nodiscard]] std::int64_t expert_input(std::int64_t hidden) const { return latent > 0 ? latent : hidden; }
  bool router_bias = false;
  bool shared_gate = false;  // a gate of `hidden` weights on the shared expert (Qwen2-MoE)
  [[nodiscard]] bool routed() const { return experts > 0; }
  [[nodiscard]] bool present() const { return width > 0 || routed(); }
  bool operator==(const FeedForward&) const = default;
};

// Layers that are alike. The order of groups does not matter to any cost. A layer may lack one of its two parts
// (Nemotron-H): what it has passes a norm, is added to the residual stream, and is summed over tensor ranks.
struct LayerGroup {
  int count = 0;
  Mixer mixer;
  FeedForward feed_forward;
  int norms = 2;           // vectors of `hidden` weights per layer
  bool norm_bias = false;  // each has a bias too (LayerNorm)
  TokenChange change{};    // by a token plan (models/token_plan.hpp)
  // Of their projections around mixer, and of their dense feed-forward or shared experts, where a checkpoint stores
  // them in another format than those of the other layers (first layers that stay in 16 bits).
  std::optional<Format> own_attention{}, own_dense{};
  [[nodiscard]] const Format& attention_weights(const Precision& precision) const {
    return own_attention ? *own_attention : precision.attention_weights();
  }
  [[nodiscard]] const Format& output_weights(const Precision& precision) const {
    return own_attention ? *own_attention : precision.output_weights();
  }
  [[nodiscard]] const Format& dense_weights(const Precision& precision) const {
    return own_dense ? *own_dense : precision.weights;
  }
  // What one of them keeps of a sequence on a rank of `tensor`.
  [[nodiscard]] SequenceState state(const Precision& precision, int tensor = 1) const;
  // Caches that they keep.
  [[nodiscard]] int caches() const { return (count + change.caches_shared_by - 1) / change.caches_shared_by; }
  // Its mixer, where it is one of softmax attention; else throws std::bad_variant_access.
  [[nodiscard]] SoftmaxAttention& softmax() { return std::get<SoftmaxAttention>(mixer); }
  [[nodiscard]] const SoftmaxAttention& softmax() const { return std::get<SoftmaxAttention>(mixer); }
  // Of mixer and feed-forward, those that it has: partial sums and additions to the residual stream.
  [[nodiscard]] int parts() const { return (has_mixer(mixer) ? 1 : 0) + (feed_forward.present() ? 1 : 0); }
};

struct ModelSpec {
  std::string name;
  std::string family;  // "llama", "qwen2", ...
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_position = 0;     // longest context in tokens
  bool tied_embeddings = false;      // the head uses the input embedding's table
  std::int64_t position_table = 0;   // rows of a learned position embedding (OPT)
  std::int64_t embedding_width = 0;  // narrower input embedding with projections (OPT-350M); 0: hidden
  bool final_norm = true;
  std::vector<LayerGroup> groups;
  Precision precision;
  std::string source;                          // where the figures come from
  std::optional<double> published_parameters;  // as the authors state them

  [[nodiscard]] int layers() const;
};

// Exact counts, without quantisation scales.
std::int64_t parameters(const ModelSpec&);
// Of the input embedding's table; an untied head has as many again.
std::int64_t table_parameters(const ModelSpec&);
// Parameters that one token passes through: routed experts count experts_per_token of them; the input embedding table
// is left out unless it is tied (then it is the head), as a token gathers one row of it.
std::int64_t active_parameters(const ModelSpec&);
// Bytes of KV cache that one token adds over all layers, windows and budgets ignored (cost-model 2.3), over
// `kv_shards` tensor-parallel ranks: what one rank stores. Latents are not divided.
double kv_bytes_per_token(const ModelSpec&, int tensor_parallel = 1);
// What of a computed prompt all of its layers can share.
Sharing sharing(const ModelSpec&);
// Bytes of recurrent state that one sequence keeps over all layers, at any length; 0: no layer has one.
double state_bytes_per_sequence(const ModelSpec&, int tensor_parallel = 1);

}  // namespace llmscape::models
