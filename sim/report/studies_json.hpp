// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sim/studies/verdicts.hpp"

namespace llmscape::report {

// The outcome of studies as JSON (schema studies/1), two-space indented:
//   studies[]: name, title, summary, as_declared (nothing but what study.yaml says misses or ties), all_hold, claims[],
//              negative[], same[], figure, problems[]
//     claims[]: id, what, kind, evidence, published (a number; of a range [low, high]; of a direction null), tolerance
//     {amount,
//               relative}, simulated (median over seeds; of a direction the share of seeds that it holds for), low,
//               high (5 % and 95 % of the seeds), value (median of what a direction shows beside), seeds, error
//               (simulated - published; of a range the distance from it), verdict (holds, ties, misses, calibration),
//               catalogue {simulated, verdict} (with the catalogue's kernels, where the study has others), source, miss
//               (of one that misses or ties)
//     negative[]: id, what, simulated (share of seeds), seeds, verdict; same[]: runs, verdict
//     figure: title, x, y, labels, series[]: name, values (null where there is none)
//   summary: published and other, each by kind {held, held_with_catalogue, counted}
std::string studies_json(const std::vector<studies::StudyOutcome>& outcomes);

}  // namespace llmscape::report
