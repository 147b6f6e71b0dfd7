// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/studies/verdicts.hpp"

namespace llmscape::report {

// The picture of a study as SVG: lines where all labels are numbers (on a log axis where they span more than a factor
// of 30), named at their ends where they are few, else groups of bars. A series called "published" is grey.
std::string study_figure(const studies::DrawnFigure& figure);

}  // namespace llmscape::report
