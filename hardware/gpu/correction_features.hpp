// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/chip.hpp"
#include "hardware/gpu/correction.hpp"
#include "models/operator.hpp"

#include <span>

namespace llmscape::hardware {

// What corrections are looked up by. The operators have some work to do, and attention is not latent.
Features features_of(const Chip& chip, const models::Gemm& gemm);
Features features_of(const models::GroupedGemm& gemm, bool tuned);
Features features_of(const models::DecodeAttention& attention);
// One kernel over `chunks`, which stand in for those of `shape`; at least one.
Features features_of(const models::PrefillAttention& shape, std::span<const models::PrefillChunk> chunks);

}  // namespace llmscape::hardware
