// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/rounding.hpp"
#include "sim/validation/comparison.hpp"
#include "sim/validation/requests.hpp"

namespace llmscape::validation {

// The largest error that is tolerated: "tpot.mean=3%", "decode step.error_median=10%", "running.rmse=5".
struct Limit {
  std::string text;            // as written
  std::string metric, figure;  // Comparison::figures(), or rmse of a course
  double largest = 0;          // a share, or requests
};

// Nothing, with the reason in `problem`, where the text is no limit.
std::optional<Limit> parse_limit(const std::string& text, std::string& problem);
// Those of --max-error; reports each that is none.
std::vector<Limit> parse_limits(const std::vector<std::string>& texts, Diagnostics& diagnostics);

// A limit held against what was found. Where a quantile was told as a figure of its own, "ttft.p99" means that. Of
// several measured files that tell the metric the worst counts, and one in which it was not compared before any.
struct Verdict {
  Limit limit;
  std::optional<double> error{};  // nothing: the metric was not compared, or its error is not defined
  std::string reason{};           // why there is no error, where that can be said
  std::string of{};               // the measured file, where there are several
  std::string unfit{};            // why the prediction meets no limit, whatever the error; else empty
  [[nodiscard]] bool met() const { return error && unfit.empty() && at_most(*error, limit.largest); }
};
Verdict judge(const Limit& limit, const std::vector<Comparison>& comparisons, const std::vector<Course>& courses);

}  // namespace llmscape::validation
