// SPDX-License-Identifier: Apache-2.0
#include "models/layer_shapes.hpp"

#include "models/parallel_plan.hpp"

namespace llmscape::models {
namespace {

// Parameters that are vectors, not matrices. They are not cut by tensor parallelism, but for the sinks.
std::int64_t vector_parameters(std::int64_t hidden, const LayerGroup& group, int tensor) {
  const Attention& a = group.attention;
  std::int64_t sum = group.norms * hidden * (group.norm_bias ? 2 : 1);
  if (a.kind == Attention::Kind::mla) sum += a.q_rank + a.kv_rank;
  if (a.qk_norm_full) {
    sum += std::int64_t{a.heads + a.kv_heads} * a.head_dim;
  } else if (a.qk_norm) {
    sum += 2 * a.head_dim;
  }
  if (a.sinks) sum += a.heads / tensor;
  if (group.feed_forward.shared_gate) sum += hidden;
  return sum;
}

std::int64_t parameters_of(const std::array<Linear, 2>& up_down) {
  return up_down[0].parameters() + up_down[1].parameters();
}

}  // namespace

std::vector<Linear> projections(std::int64_t hidden, const Attention& a, int tensor) {
  const std::int64_t heads = a.heads / tensor;
  if (a.kind == Attention::Kind::gqa) {
    const std::int64_t qkv = (heads + 2 * kv_heads_per_rank(a, tensor)) * a.head_dim;
    return {{hidden, qkv, a.qkv_bias}, {heads * a.head_dim, hidden, a.output_bias}};
  }
  const std::int64_t queries = heads * (a.nope_dim + a.rope_dim);
  const Linear latent{hidden, a.kv_rank + a.rope_dim, a.qkv_bias};
  const Linear output{heads * a.v_dim, hidden, a.output_bias};
  if (a.q_rank == 0) return {{hidden, queries}, latent, output};
  return {{hidden, a.q_rank, a.qkv_bias}, {a.q_rank, queries}, latent, output};
}

Linear latent_expansion(const Attention& a, int tensor) {
  return {a.kv_rank, std::int64_t{a.heads / tensor} * (a.nope_dim + a.v_dim)};
}

std::array<Linear, 2> feed_forward(std::int64_t hidden, std::int64_t width, const FeedForward& kind, int shards) {
  const std::int64_t mine = width / shards;
  return {Linear{hidden, (kind.gated ? 2 : 1) * mine, kind.bias}, Linear{mine, hidden, kind.bias}};
}

Linear router(std::int64_t hidden, const FeedForward& kind) { return {hidden, kind.experts, kind.router_bias}; }

LayerParameters layer_parameters(std::int64_t hidden, const LayerGroup& group, int tensor, int expert_shards) {
  LayerParameters sum{vector_parameters(hidden, group, tensor), 0};
  for (const Linear& linear : projections(hidden, group.attention, tensor)) sum.common += linear.parameters();
  if (group.attention.kind == Attention::Kind::mla)
    sum.common += latent_expansion(group.attention, tensor).parameters();
  const FeedForward& kind = group.feed_forward;
  if (!kind.routed()) {
    sum.common += parameters_of(feed_forward(hidden, kind.width, kind, tensor));
    return sum;
  }
  sum.common += router(hidden, kind).parameters();
  if (kind.shared_width > 0) sum.common += parameters_of(feed_forward(hidden, kind.shared_width, kind, tensor));
  sum.expert = parameters_of(feed_forward(hidden, kind.expert_width, kind, expert_shards));
  return sum;
}

std::int64_t frame_parameters(const ModelSpec& model) {
  const bool norm_bias = !model.groups.empty() && model.groups.front().norm_bias;
  const std::int64_t norm = model.final_norm ? model.hidden * (norm_bias ? 2 : 1) : 0;
  return norm + 2 * model.embedding_width * model.hidden;
}

}  // namespace llmscape::models
