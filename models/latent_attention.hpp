// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "models/model.hpp"

namespace llmscape::models {

// Multi-head latent attention runs in one of two forms (cost-model 2.4). Expanded: the latents of all n + c keys are
// expanded to the keys and values of every head. Absorbed: the expansion is moved to the n queries and outputs, and all
// heads attend to the latents themselves, at more FLOPs per pair.

// Whether the absorbed form needs fewer FLOPs for a chunk: for DeepSeek-V3 iff A(n, c) < 170.67 c. Never for a fresh
// prompt.
bool absorbed_is_cheaper(const Attention& attention, std::int64_t tokens, std::int64_t cached);
// FLOPs per query-key pair, all heads.
double expanded_pair_flops(const Attention& attention);
double absorbed_pair_flops(const Attention& attention);

}  // namespace llmscape::models
