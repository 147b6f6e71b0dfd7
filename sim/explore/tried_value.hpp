// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/bisection.hpp"
#include "sim/explore/slo.hpp"

namespace llmscape::explore {

// What a value must do: keep all limits, in runs whose verdict is "valid", or another where several seeds decide.
struct Question {
  std::vector<Limit> limits;
  std::size_t repeat = 5;        // most seeds for one value: the scenario's, and those that count up from it
  bool include_invalid = false;  // verdicts other than "valid" count too
};

struct SearchRun {
  ResultRow row;       // its `values` has the one value, as written
  std::string reason;  // of a verdict that is not valid
};

// What is known of a value.
struct TriedValue {
  double value = 0;
  std::string text;  // "23.8 /s"
  Standing standing = Standing::failed;
  bool clear = true;            // false: the 95 % interval of the mean held a limit to the end, and the mean decided
  std::vector<SearchRun> runs;  // by seed; as many as decided
  std::vector<std::optional<Estimate>> sides;  // left one of each limit: the mean of the runs, with its interval
  std::string why;  // it does not meet the question, in a few words: "ttft.p99 <= 200 ms", "saturated: ..."
};

// Judges a value by its first runs, one run more at a time until they decide; nothing where they do not suffice. One
// run decides unless it is noisy or a limit is less than 10 % away: then the 95 % interval of the mean over three seeds
// or more must be clear of it, or all seeds be spent. Fewer than three noisy runs do not meet it. Runs that are
// unsteady or saturated (drifts()) are judged with the others as noisy ones are; where they are half of all seeds or
// more, the value does not meet it. `fewest` runs are looked at in any case.
std::optional<TriedValue> judge(const Question& question, const ResultsTable& table, const std::vector<SearchRun>& runs,
                                std::size_t fewest = 1);

// What one run says by itself, whether it suffices or not.
TriedValue alone(const Question& question, const ResultsTable& table, const SearchRun& run);

}  // namespace llmscape::explore
