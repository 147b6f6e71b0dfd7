// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"
#include "hardware/gpu/chip.hpp"
#include "hardware/gpu/correction.hpp"
#include "models/operator.hpp"

#include <optional>

namespace llmscape::hardware {

// Parameters of decode attention with split KV (flash decoding). Caches are taken as cold: in serving the weights pass
// through L2 between two attentions.
struct DecodeAttentionParameters : Fit {
  double compute_efficiency = 0;  // share of the peak
  double memory_efficiency = 0;   // share of the memory bandwidth
  Seconds launch;
  Seconds cta;                   // cost of one more thread block on a multiprocessor
  BytesPerSecond cta_bandwidth;  // what one thread block can draw from memory
  Seconds split;                 // merging the parts of a split KV
  // FlashAttention 2 copies queries and outputs so that the query heads of a group become rows of one tile, and splits
  // KV only then: what the two copies cost a kernel of several sequences and KV heads. Absent: no copies
  // (FlashAttention 3), and KV is always split.
  std::optional<Seconds> packing;
  // What the block of the longest sequence draws after the others of an unsplit kernel have ended. Absent: no such
  // tail.
  std::optional<BytesPerSecond> tail_bandwidth;
  std::int64_t most_sequences = 0, longest_context = 0;               // range of the fit
  models::AttentionKernel kernel = models::AttentionKernel::softmax;  // that the correction is of
  std::optional<Correction> correction;                               // of the form's times
};
const Fields<DecodeAttentionParameters>& decode_attention_fields();

// Keys and values that the launch before has left in L2, as in tables timed by repeating one launch: caches well below
// `held` of L2 are read at `bandwidth`. Never so in serving.
struct WarmCache {
  BytesPerSecond bandwidth;
  double held = 0;  // share of L2
};

// What unequal contexts add to a kernel that does not split KV: the longest sequence beyond the mean, in one block.
Seconds attention_tail(const DecodeAttentionParameters&, const models::DecodeAttention&);

// Contexts may differ: bytes follow their sum, and a sequence much longer than the mean holds the kernel open.
KernelCost decode_attention_cost(const Chip&, const DecodeAttentionParameters&, const models::DecodeAttention&,
                                 const std::optional<WarmCache>& warm = {});

}  // namespace llmscape::hardware
