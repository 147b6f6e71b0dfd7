// SPDX-License-Identifier: Apache-2.0
#include "models/model_parts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace llmscape::models {

ModelSpec layers_of(const ModelSpec& model, int first, int count) {
  // The middle of each layer in the model, were its group alone there, with the group's index.
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t group = 0; group < model.groups.size(); ++group)
    for (int layer = 0; layer < model.groups[group].count; ++layer)
      order.emplace_back((layer + 0.5) / model.groups[group].count, group);
  std::sort(order.begin(), order.end());

  ModelSpec part = model;
  for (LayerGroup& group : part.groups) group.count = 0;
  const int last = first + count;
  for (int layer = first; layer < last; ++layer) ++part.groups[order.at(static_cast<std::size_t>(layer)).second].count;
  std::erase_if(part.groups, [](const LayerGroup& group) { return group.count == 0; });

  const bool begins = first == 0, ends = last == model.layers();
  if (begins && ends) return part;
  part.tied_embeddings = true;  // the head alone
  if (!begins) part.position_table = 0;
  if (!ends) part.vocabulary = 0;
  if (!ends) part.final_norm = false;
  return part;
}

ModelSpec attention_alone(const ModelSpec& model, int ranks) {
  ModelSpec part = model;
  part.hidden = 1;
  part.vocabulary = ranks;
  part.tied_embeddings = true;
  part.position_table = part.embedding_width = 0;
  for (LayerGroup& group : part.groups) {
    group.feed_forward = {};
    group.feed_forward.width = ranks;
  }
  return part;
}

ModelSpec without_context(ModelSpec model) {
  for (LayerGroup& group : model.groups)
    if (auto* attention = std::get_if<SoftmaxAttention>(&group.mixer)) attention->window = 1;
  return model;
}

}  // namespace llmscape::models
