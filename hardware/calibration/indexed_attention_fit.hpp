// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/gpu.hpp"
#include "traces/kernel_record.hpp"

#include <optional>
#include <span>

namespace llmscape::hardware {

struct IndexedAttentionCalibration {
  IndexedAttentionParameters parameters;
  FamilyReport report;
};

// Fits attention to chosen entries of one KV format to whole modules (projections, norms, scores, choice, attention):
// projections and norms are priced with the GPU's other kernels, the rest is what the module takes beside them. Modules
// of prompts were timed outside graphs: rows below three times the fastest are left out, and what the host adds to the
// others is one more parameter, which the file does not get. `scores`: where they are known, scores and choice are
// taken from there. 8-bit entries: of prompts only those with few heads run in a kernel of their own (vLLM's
// MIN_HEADS_FOR_BF16_PREFILL, v1/attention/backends/mla/flashmla_sparse.py). Nothing where fewer than kFewestFittedRows
// are of models whose widths are known.
std::optional<IndexedAttentionCalibration> fit_indexed_modules(const Gpu& gpu,
                                                               std::span<const traces::TimedIndexedAttention> records,
                                                               const IndexedAttentionParameters* scores);

// Scores and choice by the kernels alone; attention is that of `attention`, but for decodes, which run in the kernel of
// dense latent attention.
std::optional<IndexedAttentionCalibration> fit_index_kernels(const Gpu& gpu,
                                                             std::span<const traces::TimedIndexedAttention> records,
                                                             const IndexedAttentionParameters& attention);

}  // namespace llmscape::hardware
