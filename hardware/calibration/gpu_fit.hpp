// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/calibrate.hpp"
#include "hardware/gpu/gpu.hpp"

#include <string>
#include <vector>

namespace llmscape::hardware {

// Fits every family that one engine's kernels (empty: those of no engine in particular) were timed for, format by
// format, and writes it into `groups`: the device's own description if `own`, with the rows of communication libraries,
// which belong to no engine; else a set of `kernel_sets`. `gpu` is the device as the base describes it.
std::vector<FamilyReport> fit_gpu(const traces::KernelTables& tables, const std::string& engine, bool own, Gpu gpu,
                                  const CalibrationRequest& request, YamlNode& groups);

}  // namespace llmscape::hardware
