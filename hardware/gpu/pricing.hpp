// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/gpu.hpp"

#include <span>

namespace llmscape::hardware {

// The operators one after another on the device timeline.
PartCost price(const Gpu& gpu, std::span<const models::Operator> operators);

}  // namespace llmscape::hardware
