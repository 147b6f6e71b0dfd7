// SPDX-License-Identifier: Apache-2.0
#include "models/execution.hpp"

#include "models/layer_shapes.hpp"
#include "models/operator_list.hpp"
#include "models/step_work.hpp"

namespace llmscape::models {
namespace {

// What the attention operators of one group say of each of its layers.
LayerContext context_of(const std::vector<Operator>& operators) {
  LayerContext layer;
  for (const Operator& op : operators) {
    if (const auto* prompts = std::get_if<PrefillAttention>(&op.what)) {
      layer.entry_bytes = prompts->kv_heads * prompts->stored_bytes();
      for (const PrefillChunk& chunk : prompts->chunks) {
        const auto context = static_cast<double>(chunk.tokens + chunk.cached);
        layer.scores += prompts->heads * static_cast<double>(chunk.tokens) * context;
        if (chunk.cached > 0) layer.entries += context;
      }
    } else if (const auto* decodes = std::get_if<DecodeAttention>(&op.what)) {
      layer.entry_bytes = decodes->kv_heads * decodes->stored_bytes();
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
      all.push_back(context_of(group_attention(model, group, plan, batch)));
  return all;
}

std::vector<Operator> execution_work(const ModelSpec& model, const ParallelPlan& plan, const Batch& batch,
                                     const Execution& execution) {
  OperatorList list;
  const double width = hidden_format(model.precision).bytes;
  for (const LayerGroup& group : model.groups) {
    if (group.state(model.precision, plan.tensor).bytes_per_token == 0) continue;
    const LayerContext layer = context_of(group_attention(model, group, plan, batch));
    const int layers = layers_per_stage(group, plan);
    if (execution.kv_cache == KvCacheForm::concatenated && layer.entries > 0)
      list.add(Copy{2 * layer.entries * layer.entry_bytes}, group.caches(layers));
    if (execution.attention == AttentionForm::eager && layer.scores > 0)
      list.add_elementwise(Elementwise::Kind::scores, 2 * layer.scores * width, layers);
  }
  return list.take();
}

}  // namespace llmscape::models
