// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "hardware/device.hpp"

namespace llmscape::hardware {

// HOI of arXiv 2604.05404: dense peak of 16-bit products / bandwidth of the device memory, in FLOP per byte. Nothing
// for kinds that do not state both.
std::optional<double> operational_intensity(const Device& device);

}  // namespace llmscape::hardware
