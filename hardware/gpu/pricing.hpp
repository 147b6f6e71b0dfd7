// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/gpu.hpp"

#include <span>

namespace llmscape::hardware {

// The same of attention_sparse.hpp with what this GPU has for the kernel that `shape` names, and for dense attention.
KernelCost sparse_attention_cost(const Gpu& gpu, const models::PrefillAttention& shape,
                                 std::span<const models::PrefillChunk> chunks);
KernelCost selection_cost(const Gpu& gpu, const models::PrefillAttention& shape,
                          std::span<const models::PrefillChunk> chunks);

// Whether decodes attend in the sparse kernel, not in that of dense latent attention.
bool attends_in_own_kernel(const Gpu& gpu, const models::DecodeAttention& attention);

// Adds one to a part.
void add_price(const Gpu& gpu, const models::Operator& op, PartCost& part);
// The operators one after another on the device timeline.
PartCost price(const Gpu& gpu, std::span<const models::Operator> operators);

}  // namespace llmscape::hardware
