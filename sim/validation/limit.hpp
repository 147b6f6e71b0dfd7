// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

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

// A limit held against what was found. Where a quantile was told as a figure of its own, "ttft.p99" means that.
struct Verdict {
  Limit limit;
  std::optional<double> error;  // nothing: the metric was not compared, or its error is not defined
  bool of_pairs_alone = false;  // the metric was compared row by row, and the figure is one of sets
  bool of_one_figure = false;   // the metric was one figure on either side, and a quantile was asked for
  [[nodiscard]] bool met() const { return error && *error <= limit.largest; }
};
Verdict judge(const Limit& limit, const std::vector<Comparison>& comparisons, const std::vector<Course>& courses);

}  // namespace llmscape::validation
