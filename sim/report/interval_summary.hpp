// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/result/result.hpp"

namespace llmscape::report {

// What the errors of the kernel models could make of the main figures, and what servers would show where that is known.
std::string interval_summary(const result::Intervals& intervals);

}  // namespace llmscape::report
