// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"
#include "hardware/gpu/chip.hpp"
#include "models/operator.hpp"

#include <span>

namespace llmscape::hardware {

// Prefill attention by a kernel that skips what a token plan leaves out: one efficiency, of the FLOPs that remain.
struct SparseAttentionParameters : Fit {
  double compute_efficiency = 0;  // share of the peak
  Seconds launch;
};
const Fields<SparseAttentionParameters>& sparse_attention_fields();

// For kernels that a device does not know: MInference's own on an A100 reach 18 % of the peak (set from one prompt of
// its experiments, microsoft/MInference), on an H20 it was 10 % (derived from figures of a blog post).
const SparseAttentionParameters& assumed_sparse_attention();

// Whether these chunks run in the sparse kernel: where nothing is estimated, a dense one does for chunks that attend to
// all before them.
bool runs_sparse(const models::PrefillAttention& shape, std::span<const models::PrefillChunk> chunks);

// One layer over `chunks`, which stand in for those of `shape`, at `memory_efficiency` of the memory bandwidth: the
// estimation and the pairs that are left one after the other, queries, keys and values streamed once, new keys and
// values appended to the cache. Kernels take as long for a pair however the pairs lie.
KernelCost sparse_attention_cost(const Chip&, const SparseAttentionParameters&, double memory_efficiency,
                                 const models::PrefillAttention& shape, std::span<const models::PrefillChunk> chunks);

// What it costs to choose what stays of prompts that end with `chunks` (SnapKV), at that share of the peak.
KernelCost selection_cost(const Chip&, double compute_efficiency, const models::PrefillAttention& shape,
                          std::span<const models::PrefillChunk> chunks);

}  // namespace llmscape::hardware
