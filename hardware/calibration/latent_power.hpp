// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/gpu.hpp"
#include "traces/kernel_record.hpp"

#include <optional>
#include <span>

namespace llmscape::hardware {

// Mean watts of the board while it repeats latent attention of one layer of DeepSeek-V3 (arXiv 2412.19437, 4.2) with
// its projections, in the time that was measured: by the GPU's figures, to which such readings are not fitted.
Watts predicted_power(const Gpu& gpu, const traces::LatentModuleReading& reading);

// What the GPU's figures say of the readings of 30 ms and more, as held-out rows; nothing where fewer than
// kFewestFittedRows are.
std::optional<FamilyReport> score_latent_power(const Gpu& gpu, std::span<const traces::LatentModuleReading> readings);

}  // namespace llmscape::hardware
