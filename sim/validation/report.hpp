// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/validation/comparison.hpp"
#include "sim/validation/limit.hpp"
#include "sim/validation/requests.hpp"

namespace llmscape::validation {

// The comparisons of some of the pairs: rows that are alike in something.
struct GroupErrors {
  std::string name;
  std::vector<Comparison> comparisons;
};

// What was measured and not predicted, and why.
struct LeftOut {
  std::string name, reason;
};

// What the predicting run says of itself (metrics::Verdict), of runs that were simulated for this.
struct PredictedRun {
  std::string verdict;               // "valid", "saturated", ...
  std::vector<std::string> reasons;  // one sentence each
  std::int64_t requests = 0, served = 0;
  std::int64_t left_out = 0;  // requests that were measured beside these, and that it did not have
  // Why it is of another machine or of another load than what was measured, one sentence each.
  std::vector<std::string> apart{};

  // Whether these are more than one in a hundred, so that what was measured had more to do; a lone one, which perhaps
  // never got there, tells nothing.
  [[nodiscard]] bool lacks_requests() const { return left_out > 1 && 100 * left_out > left_out + requests; }
  // Why its errors meet no limit: it had, or served, a part of the requests only, it is of another machine or load, or
  // its verdict is neither valid nor noisy (too few calls for a 99th percentile are as few on the measured side). Else
  // empty.
  [[nodiscard]] std::string unfit() const;
};

// Everything that one call compared.
struct Report {
  std::string predicted, measured;  // what was compared with what
  std::vector<Comparison> comparisons;
  std::vector<GroupErrors> groups;
  std::vector<LeftOut> left_out;
  std::vector<Course> courses;
  std::vector<Verdict> verdicts;      // of the limits that were set
  std::vector<std::string> warnings;  // of the predicting side
  std::optional<PredictedRun> run;
};

// Judges all of them into `report.verdicts`; whether each is met. `any_run`: one whose run is unfit counts too.
bool hold_to(const std::vector<Limit>& limits, Report& report, bool any_run = false);

// Tables for a terminal of 100 columns: errors of the sets, errors of the pairs, by group, over
// time, worst cases, what was left out by reason, limits.
std::string to_text(const Report& report);
// The same as Markdown.
std::string to_markdown(const Report& report);
// Schema validation/1: two-space indented, SI units, shares from 0 to 1; what is not defined is absent.
std::string to_json(const Report& report);
// JUnit XML: a case for each limit, which fails where it is exceeded, and one for each row that was left out, skipped.
// `verb` is what was called: "validate".
std::string to_junit(const Report& report, const std::string& verb);

}  // namespace llmscape::validation
