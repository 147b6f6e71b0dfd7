// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/diagnostics.hpp"
#include "traces/cells.hpp"

namespace llmscape::validation {

std::optional<Limit> parse_limit(const std::string& text, std::string& problem) {
  const std::size_t equals = text.find('='), dot = text.rfind('.', equals);
  if (equals == text.npos || dot == text.npos || dot == 0) {
    problem = fmt::format("a limit is METRIC.FIGURE=VALUE, as tpot.mean=3%; got {}", in_quotes(text));
    return std::nullopt;
  }
  Limit limit{text, text.substr(0, dot), text.substr(dot + 1, equals - dot - 1), 0};
  std::vector<std::string> figures = Comparison::figures();
  figures.emplace_back("rmse");
  if (std::ranges::find(figures, limit.figure) == figures.end()) {
    problem = fmt::format("there is no figure {} in {} {}", in_quotes(limit.figure), in_quotes(text),
                          did_you_mean(limit.figure, figures));
    return std::nullopt;
  }
  std::string_view value = std::string_view(text).substr(equals + 1);
  const bool share = limit.figure != "rmse";
  const bool percent = value.ends_with('%');
  if (percent) value.remove_suffix(1);
  const auto number = traces::parse_number<double>(value);
  if (!number || !std::isfinite(*number) || *number < 0 || percent != share) {
    problem = fmt::format("{} must be {}; got {}", in_quotes(limit.metric + '.' + limit.figure),
                          share ? "a percentage, as 3%" : "a number in the metric's own unit, as 5 (requests, W)",
                          in_quotes(text.substr(equals + 1)));
    return std::nullopt;
  }
  limit.largest = percent ? *number / 100 : *number;
  return limit;
}

Verdict judge(const Limit& limit, const std::vector<Comparison>& comparisons, const std::vector<Course>& courses) {
  Verdict verdict{limit, std::nullopt, false};
  if (limit.figure == "rmse") {
    for (const Course& course : courses)
      if (course.name == limit.metric && course.count > 0) verdict.error = course.rmse;
    return verdict;
  }
  for (const Comparison& comparison : comparisons)
    if (comparison.metric == limit.metric) {
      verdict.error = comparison.error(limit.figure);
      verdict.of_pairs_alone = !verdict.error && comparison.statistics.empty() && comparison.error_mean;
      verdict.of_one_figure = !verdict.error && comparison.statistics.size() == 1;
    }
  if (verdict.error) return verdict;
  for (const Comparison& comparison : comparisons)
    if (comparison.metric == limit.metric + '.' + limit.figure) verdict.error = comparison.error("mean");
  return verdict;
}

}  // namespace llmscape::validation
