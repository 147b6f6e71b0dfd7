// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/correction_fit.hpp"
#include "hardware/gpu/attention_decode.hpp"
#include "hardware/gpu/attention_prefill.hpp"
#include "hardware/gpu/elementwise.hpp"
#include "hardware/gpu/gemm.hpp"
#include "traces/kernel_record.hpp"

#include <optional>
#include <span>
#include <vector>

namespace llmscape::hardware {

// Records beside what parameters without a correction say of them.
std::vector<CorrectionRow> correction_rows(const Chip& chip, const ElementwiseParameters& elementwise,
                                           const GemmParameters& p, std::span<const traces::TimedGemm> records);
// Of whole expert layers only the grouped GEMMs are corrected.
std::vector<CorrectionRow> correction_rows(const Chip& chip, const ElementwiseParameters& elementwise,
                                           const GemmParameters& p, std::span<const traces::TimedExpertLayer> records);
// A form that knows of caches left in L2 keeps what they save out of the correction.
std::vector<CorrectionRow> correction_rows(const Chip& chip, const DecodeAttentionParameters& p,
                                           const std::optional<WarmCache>& warm,
                                           std::span<const traces::TimedDecodeAttention> records);
std::vector<CorrectionRow> correction_rows(const Chip& chip, const PrefillAttentionParameters& p,
                                           std::span<const traces::TimedPrefillAttention> records);

// Of latent attention: decodes, and prompts.
std::vector<CorrectionRow> correction_rows(const Chip& chip, const DecodeAttentionParameters& p,
                                           const std::optional<WarmCache>& warm,
                                           std::span<const traces::TimedLatentAttention> records);
std::vector<CorrectionRow> correction_rows(const Chip& chip, const PrefillAttentionParameters& p,
                                           std::span<const traces::TimedLatentAttention> records);

}  // namespace llmscape::hardware
