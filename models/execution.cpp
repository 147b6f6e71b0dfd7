// SPDX-License-Identifier: Apache-2.0
#include "models/execution.hpp"

#include "models/layer_shapes.hpp"
#include "models/operator_list.hpp"
#include "models/step_work.hpp"

namespace llmscape::models {
namespace {

// Scores, and entries on their way into a longer tensor: what a framework's own kernels stream through the memory.
constexpr auto kStreamed = Elementwise::Kind::scores;

// Bytes of memory traffic for each logit where rows are sorted before a token is drawn, in vLLM's PyTorch sampler
// (vllm/v1/sample/ops/topk_topp_sampler.py, apply_top_k_top_p and random_sample; the default of 0.11.1) and ATen's sort
// (native/cuda/Sort.cu, keys of 32 bits with positions of 64). From memory of these sources:
constexpr int kSorted = 8                    // positions are written
                        + 4 + 4 * (12 + 12)  // a radix sort counts once, and moves keys and positions four times
                        + 24 + 52            // positions are put into the order of rows; values gathered, both written
                        + 12 + 8             // softmax of the sorted row, cumulative sum
                        + 5 + 9              // comparison with 1 - p, mask
                        + 8 + 4 + 32         // scattered back, a sector for each value
                        + 14                 // conversion to 32 bits, temperature
                        + 12 + 4 + 12 + 4;   // softmax, exponential draws, quotient, largest
constexpr int kLogit = 4;                    // bytes, in which sampling is priced

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
    const int layers = group.count;
    if (execution.kv_cache == KvCacheForm::concatenated && layer.entries > 0)
      list.add_elementwise(kStreamed, 2 * layer.entries * layer.entry_bytes, group.caches());
    if (execution.attention == AttentionForm::eager && layer.scores > 0)
      list.add_elementwise(kStreamed, 2 * layer.scores * width, layers);
  }
  if (execution.sampling == Sampling::sorted && batch.logit_rows() > 0)
    list.add(Sample{kSorted / kLogit * batch.logit_rows(), model.vocabulary}, 1);
  return list.take_stage(plan);
}

}  // namespace llmscape::models
