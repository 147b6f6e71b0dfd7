// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "hardware/calibration/report.hpp"

namespace llmscape::report {

// Errors by family, then each family's parameters with standard errors, then what to be careful with.
std::string calibration_text(const std::vector<hardware::FamilyReport>& reports, int width);
// The same with errors by regime, as JSON with a final newline; times in s, bandwidths in B/s.
std::string calibration_json(const std::vector<hardware::FamilyReport>& reports);

}  // namespace llmscape::report
