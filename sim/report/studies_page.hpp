// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sim/studies/verdicts.hpp"

namespace llmscape::report {

// The page docs/studies.md: how to read it, a summary, and each study with its assumptions, claims, negative tests and
// picture (pictures/studies/NAME.svg, which study_figure draws).
std::string studies_page(const std::vector<studies::StudyOutcome>& outcomes);

}  // namespace llmscape::report
