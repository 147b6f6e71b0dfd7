// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"
#include "hardware/gpu/chip.hpp"
#include "models/operator.hpp"

#include <cstdint>

namespace llmscape::hardware {

// Parameters of latent attention to entries that an index chooses (DeepSeek sparse attention), in the kernels that
// engines run on Hopper and Blackwell: DeepGEMM's fp8 scores of the whole context, a selection that reads them, and
// FlashMLA's sparse attention, which gathers the entries of each token for its heads in blocks.
struct IndexedAttentionParameters : Fit {
  double score_efficiency = 0;      // share of the fp8 peak
  double memory_efficiency = 0.8;   // share of the memory bandwidth that reads keys
  Seconds choice;                   // of a token whose context is longer than what it attends to
  BytesPerSecond choice_bandwidth;  // that reads scores
  double compute_efficiency = 0;    // of attention: share of the bf16 peak
  std::int64_t head_block = 64;     // heads are rounded up to so many
  // Its kernel works on a place for each entry that may be chosen, however short the context is.
  bool every_place = false;
  // Of decodes: one block computes all entries of a token, so that few tokens take as long as one.
  bool unsplit = false;
  // Decodes attend in the kernel of dense latent attention (FlashAttention 3 over pages of one entry).
  bool decodes_as_latent = false;
  // Prompts with more heads than this run in the kernel for bf16 latents, widened; 0: they never do.
  std::int64_t most_prompt_heads = 0;
  Seconds launch;  // fixed time of the kernels of a layer, with those that prepare and order keys and entries
  Seconds token;   // what those take for a token
};
const Fields<IndexedAttentionParameters>& indexed_attention_fields();

// For GPUs whose kernels were not timed: shares of the peaks as on an H100 (vLLM 0.24, hardware/catalog/h100-sxm.yaml).
const IndexedAttentionParameters& assumed_indexed_attention();

// Scores and choice of one layer, with the fixed time of all its kernels.
KernelCost index_cost(const Chip&, const IndexedAttentionParameters&, const models::IndexScores&);

// Attention of one layer to what was chosen: `window` is how many.
KernelCost indexed_attention_cost(const Chip&, const IndexedAttentionParameters&, const models::PrefillAttention&);
KernelCost indexed_attention_cost(const Chip&, const IndexedAttentionParameters&, const models::DecodeAttention&);

}  // namespace llmscape::hardware
