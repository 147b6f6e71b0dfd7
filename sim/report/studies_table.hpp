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
// "4 of 5 exact, 3 of 3 close claims, ..." of all of them.
std::string studies_headline(const std::vector<studies::StudyOutcome>& outcomes);

}  // namespace llmscape::report
