// SPDX-License-Identifier: Apache-2.0
#include "models/memory.hpp"

#include "models/layer_shapes.hpp"
#include "models/operator_list.hpp"

#include <algorithm>

namespace llmscape::models {
namespace {

double weight_bytes(const LayerParameters& layer, double experts, const LayerGroup& group, const Precision& precision) {
  return static_cast<double>(layer.common) * group.dense_weights(precision).bytes_with_scales() +
         static_cast<double>(layer.attention) * group.attention_weights(precision).bytes_with_scales() +
         static_cast<double>(layer.output) * group.output_weights(precision).bytes_with_scales() +
         experts * static_cast<double>(layer.expert) * precision.expert_weights().bytes_with_scales();
}

double frame_bytes(const ModelSpec& model) {
  return static_cast<double>(frame_parameters(model)) * model.precision.weights.bytes_with_scales();
}

double table_bytes(const ModelSpec& model, const Format& format) {
  return static_cast<double>(table_parameters(model)) * format.bytes_with_scales();
}

// Tables of the fullest stage: the first holds the embedding, the last the head, and a stage that is both shares a tied
// one.
double tables_of_stage(const ModelSpec& model, const ParallelPlan& plan) {
  const double embedding = table_bytes(model, model.precision.embedding_weights());
  const double head = model.tied_embeddings ? 0 : table_bytes(model, model.precision.head_weights());
  return (plan.pipeline == 1 ? embedding + head : std::max(embedding, head)) / plan.tensor;
}

}  // namespace

TokenActivations token_activations(const ModelSpec& model, const ParallelPlan& plan) {
  double mixer = 0, feed_forward = 0;  // elements
  for (const LayerGroup& group : model.groups) {
    double projected = 0;
    for (const Linear& shape : projections(model.hidden, group.mixer, plan.tensor))
      projected += static_cast<double>(shape.n);
    const FeedForward& kind = group.feed_forward;
    const int accesses = kind.gated ? 3 : 2;
    const double dense = static_cast<double>(accesses * (kind.width + kind.shared_width)) / plan.tensor;
    const double rows = static_cast<double>(kind.experts_per_token) * plan.data / plan.expert;
    const double routed = rows * static_cast<double>(accesses * kind.expert_width / expert_shards(plan) +
                                                     2 * kind.expert_input(model.hidden));
    mixer = std::max(mixer, projected);
    feed_forward = std::max(feed_forward, dense + routed);
  }
  const double width = hidden_format(model.precision).bytes;
  return {Bytes(static_cast<double>(model.hidden) * width), Bytes(mixer * width), Bytes(feed_forward * width)};
}

MemoryNeed memory_need(const ModelSpec& model, const ParallelPlan& plan, std::int64_t max_batched_tokens,
                       std::int64_t max_sequences) {
  double weights = tables_of_stage(model, plan);
  double kv_per_token = 0, state_per_sequence = 0;
  const double share = share_of_fullest_stage(model, plan);
  for (const LayerGroup& group : model.groups) {
    const double layers = share * group.count;
    const LayerParameters layer = layer_parameters(model.hidden, group, plan.tensor, expert_shards(plan));
    weights +=
        layers * weight_bytes(layer, placed_experts(plan, group.feed_forward) / plan.expert, group, model.precision);
    const SequenceState state = group.state(model.precision, plan.tensor);
    kv_per_token += share * group.caches() * state.bytes_per_token;
    state_per_sequence += layers * state.bytes_per_sequence;
  }
  weights += frame_bytes(model) + static_cast<double>(model.position_table * model.hidden) *
                                      model.precision.embedding_weights().bytes_with_scales();

  // Hidden states and residual of every token; 32-bit logits of every sequence.
  const TokenActivations token = token_activations(model, plan);
  const Bytes per_token = 2.0 * token.hidden + std::max(token.mixer, token.feed_forward);
  const double activations = static_cast<double>(max_batched_tokens) * per_token.si() +
                             4.0 * static_cast<double>(max_sequences * model.vocabulary);
  return {Bytes(weights), Bytes(activations), Bytes(kv_per_token), Bytes(state_per_sequence)};
}

Bytes streamed_weights(const ModelSpec& model) {
  // The head; of the embedding a token gathers one row.
  double sum = frame_bytes(model) + table_bytes(model, model.precision.head_weights());
  for (const LayerGroup& group : model.groups)
    sum += group.count * weight_bytes(layer_parameters(model.hidden, group, 1, 1), group.feed_forward.experts, group,
                                      model.precision);
  return Bytes(sum);
}

}  // namespace llmscape::models
