// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"
#include "hardware/gpu/chip.hpp"
#include "hardware/gpu/correction.hpp"
#include "models/operator.hpp"

#include <optional>
#include <span>

namespace llmscape::hardware {

// Parameters of prefill attention in square tiles of queries and keys (flash attention).
struct PrefillAttentionParameters : Fit {
  std::int64_t tile_edge =
      128;  // queries and keys of a tile: 128 on A100 and Hopper, 64 on GPUs with little shared memory
  double compute_efficiency = 0;  // share of the peak; above 1 where softmax overlaps the products
  double softmax_flops = 0;       // softmax and exponentials of a query-key pair, in FLOP
  double memory_efficiency = 0;
  Seconds launch;
  Seconds tile;                  // fixed cost of a tile
  double wave_quantisation = 0;  // 1: classic waves; 0: none
  bool by_head = false;          // a tile holds rows of one query head; else the heads of a group are packed into tiles
  // Decodes beside a prompt chunk run in this kernel, a tile for each query head, instead of in one of their own:
  // FlashAttention 2, where the engine has all sequences of a step in one call (models::AttentionForm::flash).
  bool takes_decodes = false;
  // Kernels that know no entries in 8 bits beside queries in 16: the keys and values of a chunk, those of its cache
  // too, are written in 16 bits before they are read, so many of their bytes a second. Absent: no such copy.
  std::optional<BytesPerSecond> widening;
  // Of a new token whose keys and values a kernel of a thread block for each token writes into the cache (vLLM's
  // reshape_and_cache_flash), where they fill its kAppendThreads threads. Absent: its bytes alone count.
  std::optional<Seconds> append;
  std::int64_t most_tokens = 0, longest_context = 0;  // range of the fit: of a chunk, of chunk and cache
  models::AttentionKernel kernel = models::AttentionKernel::softmax;  // that the correction is of
  std::optional<Correction> correction;                               // of the form's times
};
const Fields<PrefillAttentionParameters>& prefill_attention_fields();

// One layer over `chunks`, which stand in for those of `shape`.
KernelCost prefill_attention_cost(const Chip&, const PrefillAttentionParameters&, const models::PrefillAttention& shape,
                                  std::span<const models::PrefillChunk> chunks);

// The same with `decodes` in the same kernel.
KernelCost mixed_attention_cost(const Chip&, const PrefillAttentionParameters&, const models::PrefillAttention& shape,
                                std::span<const models::PrefillChunk> chunks, const models::DecodeAttention& decodes);

}  // namespace llmscape::hardware
