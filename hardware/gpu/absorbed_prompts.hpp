// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "models/operator.hpp"

#include <span>
#include <vector>

namespace llmscape::hardware {

// Prompts that attend to latents themselves: short chunks behind long caches, with fewer FLOPs than expanding these
// takes (models::LatentAttention). Engines run them in the kernel of decodes, which splits a cache over the device:
// vLLM has chunks of up to 128 tokens there on FlashMLA and of up to 512 on FlashAttention 3
// (reorder_batch_threshold, from memory). The kernel of prompts would pass over the cache in one chain of blocks.
[[nodiscard]] inline bool absorbed(const models::PrefillAttention& a) {
  return a.kernel == models::AttentionKernel::latent && a.values_in_keys;
}

// Those chunks as decodes of so many tokens: one entry for each length.
std::vector<models::DecodeAttention> as_decodes(const models::PrefillAttention& shape,
                                                std::span<const models::PrefillChunk> chunks);

}  // namespace llmscape::hardware
