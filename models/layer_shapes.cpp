// SPDX-License-Identifier: Apache-2.0
#include "models/layer_shapes.hpp"

namespace llmscape::models {
namespace {

std::int64_t parameters_of(const std::array<Linear, 2>& up_down) {
  return up_down[0].parameters() + up_down[1].parameters();
}

}  // namespace

std::array<Linear, 2> feed_forward(std::int64_t hidden, std::int64_t width, const FeedForward& kind, int shards) {
  const std::int64_t mine = width / shards;
  return {Linear{hidden, (kind.gated ? 2 : 1) * mine, kind.bias}, Linear{mine, hidden, kind.bias}};
}

Linear router(std::int64_t hidden, const FeedForward& kind) { return {hidden, kind.experts, kind.router_bias}; }

LayerParameters layer_parameters(std::int64_t hidden, const LayerGroup& group, int tensor, int expert_shards) {
  const FeedForward& kind = group.feed_forward;
  const std::int64_t norms = group.norms * hidden * (group.norm_bias ? 2 : 1);
  LayerParameters sum;
  sum.common = norms + (kind.shared_gate ? hidden : 0);
  sum.attention = inner_parameters(group.mixer, tensor);
  const std::vector<Linear> around = projections(hidden, group.mixer, tensor);
  for (const Linear& linear : around) sum.attention += linear.parameters();
  if (!around.empty()) sum.output = around.back().parameters();
  sum.attention -= sum.output;
  if (!kind.present()) return sum;
  if (!kind.routed()) {
    sum.common += parameters_of(feed_forward(hidden, kind.width, kind, tensor));
    return sum;
  }
  sum.common += router(hidden, kind).parameters();
  if (kind.shared_width > 0) sum.common += parameters_of(feed_forward(hidden, kind.shared_width, kind, tensor));
  sum.common += 2 * kind.latent * hidden + (kind.latent_norm ? kind.latent : 0);
  sum.expert = parameters_of(feed_forward(kind.expert_input(hidden), kind.expert_width, kind, expert_shards));
  return sum;
}

LayerShare share_of(const ModelSpec& model, const LayerGroup& group, const ParallelPlan& plan,
                    std::int64_t chunk_tokens, std::int64_t decode_tokens) {
  return {model.hidden,
          model.precision,
          group.attention_weights(model.precision),
          group.output_weights(model.precision),
          group.change,
          plan.tensor,
          group.count,
          model.position_table == 0,
          chunk_tokens,
          decode_tokens};
}

std::int64_t frame_parameters(const ModelSpec& model) {
  const bool norm_bias = !model.groups.empty() && model.groups.front().norm_bias;
  const std::int64_t norm = model.final_norm ? model.hidden * (norm_bias ? 2 : 1) : 0;
  return norm + 2 * model.embedding_width * model.hidden;
}

}  // namespace llmscape::models
