// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"
#include "hardware/gpu/chip.hpp"
#include "models/operator.hpp"

namespace llmscape::hardware {

// Parameters of decode attention with split KV (flash decoding). Caches are taken as cold: in serving the weights pass
// through L2 between two attentions.
struct DecodeAttentionParameters : Fit {
  double compute_efficiency = 0;  // share of the peak
  double memory_efficiency = 0;   // share of the memory bandwidth
  Seconds launch;
  Seconds cta;                                           // cost of one more thread block on a multiprocessor
  BytesPerSecond cta_bandwidth;                          // what one thread block can draw from memory
  Seconds split;                                         // merging the parts of a split KV
  std::int64_t most_sequences = 0, longest_context = 0;  // range of the fit
};
const Fields<DecodeAttentionParameters>& decode_attention_fields();

// Contexts may differ: bytes follow their sum, and a sequence much longer than the mean holds the kernel open.
KernelCost decode_attention_cost(const Chip&, const DecodeAttentionParameters&, const models::DecodeAttention&);

}  // namespace llmscape::hardware
