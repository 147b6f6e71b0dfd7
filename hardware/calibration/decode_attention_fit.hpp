// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/attention_decode.hpp"
#include "traces/kernel_record.hpp"

#include <span>
#include <vector>

namespace llmscape::hardware {

struct DecodeAttentionCalibration {
  DecodeAttentionParameters parameters;  // tagged as fitted; for cold caches; range as the records have it
  std::optional<WarmCache> warm;         // what explained warm records
  FamilyReport report;                   // held out: folds that share no (heads, kv_heads, head_dim)
};

// Fits decode attention to records, timed with keys and values left in L2 if `warm`. `compute_efficiency` is not
// fitted: memory bounds decodes, and that of the GEMMs serves as well. Whether the kernel packs as
// FlashAttention 2 does is what explains the records better; what such a kernel draws from L2 then is what warm records
// drew. So is whether it has a tile of 16 rows, or if `doublings`, tiles for each doubling of a group's rows. `records`
// must not be empty.
DecodeAttentionCalibration fit_decode_attention(const Chip& chip, std::span<const traces::TimedDecodeAttention> records,
                                                double compute_efficiency, bool warm,
                                                Scoring scoring = Scoring::held_out, bool doublings = false);

// The same of latent attention, absorbed, whose compute efficiency is fitted. Held out: folds that share no (heads,
// sequences).
DecodeAttentionCalibration fit_latent_decodes(const Chip& chip, std::span<const traces::TimedLatentAttention> records,
                                              bool warm, Scoring scoring = Scoring::held_out);

// What is supposed of keys and values left in L2 before any record was seen: the medians of the fit's priors.
WarmCache supposed_warm_cache(const Chip& chip);

// Times for the records, in seconds.
std::vector<double> predict(const Chip& chip, const DecodeAttentionParameters& parameters,
                            const std::optional<WarmCache>& warm,
                            std::span<const traces::TimedDecodeAttention> records);

}  // namespace llmscape::hardware
