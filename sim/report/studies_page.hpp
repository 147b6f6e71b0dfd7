// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sim/studies/verdicts.hpp"

namespace llmscape::report {

// The page docs/studies.md: an overview with its picture (pictures/studies/published.svg, which studies_picture draws),
// what `missing` says of systems without a study, how to read it, and each study: in a line, its claims, misses,
// negative tests and picture (NAME.svg, by study_figure), what it is about, and folded away what it assumes.
std::string studies_page(const std::vector<studies::StudyOutcome>& outcomes, const std::string& missing = {});

}  // namespace llmscape::report
