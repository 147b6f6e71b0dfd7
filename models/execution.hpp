// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "models/model.hpp"
#include "models/operator.hpp"
#include "models/parallel_plan.hpp"

namespace llmscape::models {

// Where an engine's kernels find the KV entries of a sequence: in blocks that are written once; in a slot of fixed size
// that attention reads to its end, filled or not (transformers' StaticCache); or in one tensor, which each step
// concatenates with its new entries into another one (transformers' DynamicCache).
enum class KvCacheForm : std::uint8_t { paged, slots, concatenated };
// Kernels that keep scores on chip (FlashAttention): one call for prompts and decodes of a step, which runs both in one
// kernel where the device's takes both, or a call for each; or GEMMs and a softmax that pass whole rows of scores
// through the device's memory.
enum class AttentionForm : std::uint8_t { flash, flash_separate, eager };
// Which tokens of a step the head computes logits of: those that a token is drawn from, or all.
enum class LogitRows : std::uint8_t { last, all };
// How a token is drawn from a row of logits: in kernels that read it once or twice, or by sorting it first, as
// PyTorch's operators do where an answer is asked for with top-p.
enum class Sampling : std::uint8_t { streamed, sorted };

// How a serving engine executes a model, beside what the model itself asks for (models/step_work.hpp). As it stands
// here it adds nothing.
struct Execution {
  KvCacheForm kv_cache = KvCacheForm::paged;
  std::int64_t slot_tokens = 0;  // of a slot
  AttentionForm attention = AttentionForm::flash;
  LogitRows logits = LogitRows::last;
  Sampling sampling = Sampling::streamed;
  bool operator==(const Execution&) const = default;
  // Whether devices have to price operators for it beyond those of the model.
  [[nodiscard]] bool adds_work() const {
    return kv_cache == KvCacheForm::concatenated || attention == AttentionForm::eager || logits == LogitRows::all ||
           sampling == Sampling::sorted;
  }
};

// What attention works on in one layer of a step, on one rank.
struct LayerContext {
  double scores = 0;       // elements of the score matrices: heads x new tokens x context, cells above the diagonal too
  double entries = 0;      // of KV cache that there were before the step or are added to such, so that they are copied
  double entry_bytes = 0;  // of one
};
// Of each group of layers with attention, in the order of the groups.
std::vector<LayerContext> layer_contexts(const ModelSpec&, const ParallelPlan&, const Batch&);

// Operators of a step beyond step_work, on one rank of one stage:
//   concatenated   per layer: its entries, those of the step included, are read and written; of prompts from their
//                  second chunk on, since a first one has nothing to be joined to
//   eager          per layer: scores are written and read, in the format of hidden states. A lower bound: frameworks
//                  pass over them again to scale, to mask and to divide, and compute those that are masked
//   sorted         logits that tokens are drawn from pass through the memory 77 times, on every rank: a lower bound,
//                  as caches do not help rows of a whole vocabulary and kernels that sort wait for themselves
// Logits are no part of it: logit_work says of how many rows.
std::vector<Operator> execution_work(const ModelSpec&, const ParallelPlan&, const Batch&, const Execution&);

// Rows of hidden states that the head computes.
[[nodiscard]] inline std::int64_t head_rows(const Batch& batch, const Execution& execution) {
  return execution.logits == LogitRows::all ? batch.tokens() : batch.logit_rows();
}

}  // namespace llmscape::models
