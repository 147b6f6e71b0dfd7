// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "hardware/fit.hpp"
#include "hardware/gpu/chip.hpp"
#include "models/operator.hpp"

namespace llmscape::hardware {

// Parameters of prefill attention in tiles of 128 queries by 128 keys (flash attention).
struct PrefillAttentionParameters : Fit {
  double compute_efficiency = 0;   // share of the peak; above 1 where softmax overlaps the products
  double softmax_flops = 0;        // softmax and exponentials of a query-key pair, in FLOP
  double memory_efficiency = 0;
  Seconds launch;
  Seconds tile;                    // fixed cost of a tile
  double wave_quantisation = 0;    // 1: classic waves; 0: none
  std::int64_t most_tokens = 0, longest_context = 0;  // range of the fit: of a chunk, of chunk and cache
};
const Fields<PrefillAttentionParameters>& prefill_attention_fields();

// One layer over `chunks` (which stand in for those of `shape`).
KernelCost prefill_attention_cost(const Chip&, const PrefillAttentionParameters&, const models::PrefillAttention& shape,
                                  std::span<const models::PrefillChunk> chunks);

}  // namespace llmscape::hardware
