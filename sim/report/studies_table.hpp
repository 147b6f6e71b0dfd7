// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/studies/verdicts.hpp"

namespace llmscape::report {

// Claims, negative tests and equal runs of each study, with what was published and simulated, and the problems.
std::string studies_table(const std::vector<studies::StudyOutcome>& outcomes, int width);

// Cells of a claim, for every form in which claims are printed.
struct ClaimCells {
  std::string published, simulated, error, tolerance, verdict;
  std::string catalogue;  // with the catalogue's kernels, where the study has others
};
ClaimCells cells_of(const studies::Claim& claim, const studies::ClaimOutcome& outcome);
// "18 of 20 seeds"
std::string share_of_seeds(double share, std::int64_t seeds);
// What holds of all of them, a line each: published claims; those that are derived, second-hand, from memory or this
// project's own; negative tests and equal runs. "Published claims: 4 of 5 exact, 3 of 3 close".
std::vector<std::string> studies_headline(const std::vector<studies::StudyOutcome>& outcomes);
// Claims of all kinds, published ones or the others.
studies::Count claims_count(const studies::StudyOutcome& outcome, bool published);

}  // namespace llmscape::report
