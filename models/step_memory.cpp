// SPDX-License-Identifier: Apache-2.0
#include "models/step_memory.hpp"

#include <algorithm>
#include <limits>

#include "models/operator_list.hpp"

namespace llmscape::models {
namespace {

constexpr double kSampledBytes = 4;

}  // namespace

StepMemory::StepMemory(const ModelSpec& model, const ParallelPlan& plan, const Execution& execution)
    : model_(model), plan_(plan), execution_(execution), hidden_bytes_(hidden_format(model.precision).bytes),
      token_(token_activations(model, plan)),
      most_of_token_(2.0 * token_.hidden + std::max(token_.mixer, token_.feed_forward)),
      of_row_(static_cast<double>(model.vocabulary) * kSampledBytes) {
  if (execution.attention == AttentionForm::eager || execution.kv_cache == KvCacheForm::concatenated ||
      execution.logits == LogitRows::all)
    most_of_token_ = Bytes(std::numeric_limits<double>::infinity());
}

void StepMemory::tell(const Batch& batch, MemoryByKind& memory) const {
  const auto tokens = static_cast<double>(batch.tokens()), vocabulary = static_cast<double>(model_.vocabulary);
  double scores = 0, entries = 0;
  const bool eager = execution_.attention == AttentionForm::eager;
  const bool copied = execution_.kv_cache == KvCacheForm::concatenated;
  if (eager || copied)
    for (const LayerContext& layer : layer_contexts(model_, plan_, batch)) {
      if (eager) scores = std::max(scores, layer.scores * hidden_bytes_);
      if (copied) entries = std::max(entries, layer.entries * layer.entry_bytes);
    }
  const double all = execution_.logits == LogitRows::all ? tokens * hidden_bytes_ : 0;
  const Bytes logits(vocabulary * (all + kSampledBytes * static_cast<double>(batch.logit_rows())));

  const Bytes in_mixer = tokens * (2.0 * token_.hidden + token_.mixer);
  const Bytes in_feed_forward = tokens * (2.0 * token_.hidden + token_.feed_forward), at_head = tokens * token_.hidden;
  const Bytes most = std::max({in_mixer + Bytes(scores + entries), in_feed_forward, at_head + logits});
  if (most == at_head + logits) {
    memory.of(MemoryKind::activations) = at_head;
    memory.of(MemoryKind::logits) = logits;
  } else if (most == in_feed_forward) {
    memory.of(MemoryKind::activations) = in_feed_forward;
  } else {
    memory.of(MemoryKind::activations) = in_mixer;
    memory.of(MemoryKind::scores) = Bytes(scores);
    memory.of(MemoryKind::copies) = Bytes(entries);
  }
}

}  // namespace llmscape::models
