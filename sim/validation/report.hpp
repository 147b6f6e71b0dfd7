// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sim/validation/comparison.hpp"
#include "sim/validation/limit.hpp"
#include "sim/validation/requests.hpp"

namespace llmscape::validation {

// Everything that one call compared.
struct Report {
  std::string predicted, measured;  // what was compared with what
  std::vector<Comparison> comparisons;
  std::vector<Course> courses;
  std::vector<Verdict> verdicts;      // of the limits that were set
  std::vector<std::string> warnings;  // of the predicting side
};

// Tables for a terminal of 100 columns: errors of the sets, errors of the pairs, over time, worst cases, limits.
std::string to_text(const Report& report);
// The same as Markdown.
std::string to_markdown(const Report& report);
// Schema validation/1: two-space indented, SI units, shares from 0 to 1; what is not defined is absent.
std::string to_json(const Report& report);

}  // namespace llmscape::validation
