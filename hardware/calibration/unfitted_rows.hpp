// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "hardware/calibration/report.hpp"
#include "traces/kernel_record.hpp"

#include <span>
#include <string>
#include <vector>

namespace llmscape::hardware {

// Warns of rows that were read and that no form was fitted to, kind by kind with their number and the reason, and of
// families without a fit: those that have rows, and all that were `wanted` by name. `wanted` empty: all families.
void warn_of_unfitted_rows(const traces::KernelTables& tables, bool of_cpu, std::span<const std::string> wanted,
                           std::span<const FamilyReport> reports, Diagnostics& diagnostics);

}  // namespace llmscape::hardware
