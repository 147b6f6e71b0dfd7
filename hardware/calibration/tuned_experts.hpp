// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/tuned_shapes.hpp"

#include <string_view>
#include <vector>

namespace llmscape::hardware {

// Experts for which an engine has a tuned configuration in a format on a device, whose name its tables give; empty:
// none is known.
std::vector<TunedShape> tuned_experts(std::string_view device, std::string_view engine, std::string_view format);

}  // namespace llmscape::hardware
