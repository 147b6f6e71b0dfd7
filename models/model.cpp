// SPDX-License-Identifier: Apache-2.0
#include "models/model.hpp"

#include "models/layer_shapes.hpp"
#include "models/parallel_plan.hpp"

namespace llmscape::models {
namespace {

std::int64_t layer_sum(const ModelSpec& model, bool active) {
  std::int64_t sum = 0;
  for (const LayerGroup& group : model.groups) {
    const LayerParameters layer = layer_parameters(model.hidden, group, 1, 1);
    const FeedForward& kind = group.feed_forward;
    sum += group.count * (layer.common + (active ? kind.experts_per_token : kind.experts) * layer.expert);
  }
  return sum;
}

}  // namespace

int ModelSpec::layers() const {
  int sum = 0;
  for (const LayerGroup& group : groups) sum += group.count;
  return sum;
}

std::int64_t table_parameters(const ModelSpec& model) {
  return model.vocabulary * (model.embedding_width > 0 ? model.embedding_width : model.hidden);
}

std::int64_t parameters(const ModelSpec& model) {
  return layer_sum(model, false) + frame_parameters(model) + (model.tied_embeddings ? 1 : 2) * table_parameters(model) +
         model.position_table * model.hidden;
}

std::int64_t active_parameters(const ModelSpec& model) {
  return layer_sum(model, true) + frame_parameters(model) + table_parameters(model);
}

double kv_bytes_per_token(const Attention& attention, const Format& kv, int tensor_parallel) {
  const double elements = attention.kind == Attention::Kind::mla
                              ? attention.kv_rank + attention.rope_dim
                              : 2.0 * kv_heads_per_rank(attention, tensor_parallel) * attention.head_dim;
  return elements * kv.bytes_with_scales();
}

double kv_bytes_per_token(const ModelSpec& model, int tensor_parallel) {
  double sum = 0;
  for (const LayerGroup& group : model.groups)
    sum += group.caches(group.count) * kv_bytes_per_token(group.attention, model.precision.kv, tensor_parallel);
  return sum;
}

}  // namespace llmscape::models
