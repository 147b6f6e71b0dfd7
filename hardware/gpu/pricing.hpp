// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/gpu.hpp"

#include <span>

namespace llmscape::hardware {

// One layer's attention of prompts by the kernel that runs it, dense or sparse. `chunks` stand in for those of `shape`.
KernelCost prompt_attention_cost(const Gpu& gpu, const models::PrefillAttention& shape,
                                 std::span<const models::PrefillChunk> chunks);

// The operators one after another on the device timeline.
PartCost price(const Gpu& gpu, std::span<const models::Operator> operators);

}  // namespace llmscape::hardware
