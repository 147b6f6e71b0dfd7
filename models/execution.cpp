// SPDX-License-Identifier: Apache-2.0
#include "models/execution.hpp"

#include "models/layer_shapes.hpp"
#include "models/operator_list.hpp"
#include "models/step_work.hpp"

namespace llmscape::models {
namespace {

// Scores, and entries on their way into a longer tensor: what a framework's own kernels stream through the memory.
constexpr auto kStreamed = Elementwise::Kind::scores;

// What attention works on in each layer of a group.
LayerContext context_of(const ModelSpec& model, const LayerGroup& group, const ParallelPlan& plan, const Batch& batch) {
  LayerContext layer;
  layer.entry_bytes = group.state(model.precision, plan.tensor).bytes_per_token;
  for (const Operator& op : group_attention(model, group, plan, batch)) {
    if (const auto* prompts = std::get_if<PrefillAttention>(&op.what)) {
      for (const PrefillChunk& chunk : prompts->chunks) {
        const auto context = static_cast<double>(chunk.tokens + chunk.cached);
        layer.scores += prompts->heads * static_cast<double>(chunk.tokens) * context;
        if (chunk.cached > 0) layer.entries += context;
      }
    } else if (const auto* decodes = std::get_if<DecodeAttention>(&op.what)) {
      const auto attended = static_cast<double>(decodes->attended.sum);
      layer.scores += decodes->heads * static_cast<double>(decodes->tokens_per_sequence) * attended;
      layer.entries += attended;
    }
  }
  return layer;
}

}  // namespace

std::vector<LayerContext> layer_contexts(const ModelSpec& model, const ParallelPlan& plan, const Batch& batch) {
  std::vector<LayerContext> all;
  for (const LayerGroup& group : model.groups)
    if (group.state(model.precision, plan.tensor).bytes_per_token > 0)
      all.push_back(context_of(model, group, plan, batch));
  return all;
}

std::vector<Operator> execution_work(const ModelSpec& model, const ParallelPlan& plan, const Batch& batch,
                                     const Execution& execution) {
  OperatorList list;
  const double width = hidden_format(model.precision).bytes;
  for (const LayerGroup& group : model.groups) {
    if (group.state(model.precision, plan.tensor).bytes_per_token == 0) continue;
    const LayerContext layer = context_of(model, group, plan, batch);
    const int layers = layers_per_stage(group, plan);
    if (execution.kv_cache == KvCacheForm::concatenated && layer.entries > 0)
      list.add_elementwise(kStreamed, 2 * layer.entries * layer.entry_bytes, group.caches(layers));
    if (execution.attention == AttentionForm::eager && layer.scores > 0)
      list.add_elementwise(kStreamed, 2 * layer.scores * width, layers);
  }
  return list.take();
}

}  // namespace llmscape::models
