// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"
#include "hardware/calibration/report.hpp"
#include "hardware/gpu/gpu.hpp"
#include "traces/kernel_record.hpp"

#include <cstddef>
#include <vector>

namespace llmscape::hardware {

// `from` with every figure of the data sheet of `to` in place of its own, and its fits scaled with them
// (scaled_fits.hpp): what is known of `to` before any of its kernels has been timed.
YamlNode carried(const YamlNode& from, const YamlNode& to);

// What the GPU says of kernels that its parameters were not fitted to, of the rows that a fit would take: a report for
// each serving engine, family and format, in which nothing is fitted, and `held_out` are the GPU's own predictions.
std::vector<FamilyReport> score_kernels(const traces::KernelTables& tables, const Gpu& gpu, std::size_t most_rows);

}  // namespace llmscape::hardware
