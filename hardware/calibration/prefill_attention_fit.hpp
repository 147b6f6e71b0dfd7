// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/attention_prefill.hpp"
#include "traces/kernel_record.hpp"

#include <span>
#include <vector>

namespace llmscape::hardware {

struct PrefillAttentionCalibration {
  PrefillAttentionParameters parameters;  // tagged as fitted; range as the records have it
  FamilyReport report;                    // held out: folds that share no (heads, kv_heads, head_dim)
};

// What a kernel, or one beside it, may turn out to copy.
struct PromptCopies {
  bool widens = true;   // keys of 8 bits before they are read, unless it is known to read them as they are
  bool appends = true;  // new entries at a time for each token
};

// Fits prefill attention to records of chunks, and to those of chunks with decodes in the same kernel; the tiling
// is what explains the records best. `records` must not be empty, `mixed` may be: chunks alone do not tell in which
// kernel decodes run (takes_decodes).
PrefillAttentionCalibration fit_prefill_attention(const Chip& chip,
                                                  std::span<const traces::TimedPrefillAttention> records,
                                                  std::span<const traces::TimedMixedAttention> mixed = {},
                                                  Scoring scoring = Scoring::held_out, PromptCopies may = {});

// The same of latent attention with expanded keys and values. Held out: folds that share no (heads, sequences).
PrefillAttentionCalibration fit_latent_prompts(const Chip& chip, std::span<const traces::TimedLatentAttention> records,
                                               Scoring scoring = Scoring::held_out);

// Times for the records, in seconds.
std::vector<double> predict(const Chip& chip, const PrefillAttentionParameters& parameters,
                            std::span<const traces::TimedPrefillAttention> records);
std::vector<double> predict(const Chip& chip, const PrefillAttentionParameters& parameters,
                            std::span<const traces::TimedMixedAttention> records);

}  // namespace llmscape::hardware
