// SPDX-License-Identifier: Apache-2.0
#include "models/model.hpp"

#include "models/layer_shapes.hpp"

namespace llmscape::models {
namespace {

std::int64_t layer_sum(const ModelSpec& model, bool active) {
  std::int64_t sum = 0;
  for (const LayerGroup& group : model.groups) {
    const LayerParameters layer = layer_parameters(model.hidden, group, 1, 1);
    const FeedForward& kind = group.feed_forward;
    sum += group.count * (layer.of_each_token() + (active ? kind.experts_per_token : kind.experts) * layer.expert);
  }
  return sum;
}

}  // namespace

SequenceState LayerGroup::state(const Precision& precision, int tensor) const {
  SequenceState state = state_of(mixer, precision, tensor);
  state.budget = change.budget;
  if (change.reach) state.reach = *change.reach;
  if (change.keeps_all) state.keeps_all = true;
  if (state.budget.limits()) state.sharing = Sharing::none;
  return state;
}

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

double kv_bytes_per_token(const ModelSpec& model, int tensor_parallel) {
  double sum = 0;
  for (const LayerGroup& group : model.groups)
    sum += group.caches() * group.state(model.precision, tensor_parallel).bytes_per_token;
  return sum;
}

Sharing sharing(const ModelSpec& model) {
  Sharing least = Sharing::any_block;
  for (const LayerGroup& group : model.groups) least = std::max(least, group.state(model.precision).sharing);
  return least;
}

double state_bytes_per_sequence(const ModelSpec& model, int tensor_parallel) {
  double sum = 0;
  for (const LayerGroup& group : model.groups)
    sum += group.count * group.state(model.precision, tensor_parallel).bytes_per_sequence;
  return sum;
}

}  // namespace llmscape::models
