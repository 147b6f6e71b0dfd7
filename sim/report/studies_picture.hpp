// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/studies/verdicts.hpp"

namespace llmscape::report {

// Simulated over published: of a range over the nearest number in it. Nothing of a direction, of a claim without a
// value and of a published 0.
std::optional<double> ratio_to_published(const studies::Claim& claim, const studies::ClaimOutcome& outcome);

constexpr const char* kStudiesPicture = "published";  // its name among the pictures of the studies, which have theirs

// All published claims that count, as SVG: a row for each study, a dot for each number at its ratio to the published
// one (on a log axis from one half to two; what lies beyond stands at the edge), and how many of the study's claims
// hold, directions included.
std::string studies_picture(const std::vector<studies::StudyOutcome>& outcomes);

}  // namespace llmscape::report
