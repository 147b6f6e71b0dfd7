// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/report/explanation.hpp"

namespace llmscape::report {

// For the terminal, no line wider than 100 columns: sentences, then tables.
std::string to_text(const Explanation& explanation);
// {"schema": "explain/1", "answer": [...], one list of rows for each section, "warnings": [...]}; numbers in SI units.
std::string to_json(const Explanation& explanation);

}  // namespace llmscape::report
