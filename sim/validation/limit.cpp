// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/diagnostics.hpp"
#include "traces/cells.hpp"

namespace llmscape::validation {
namespace {

std::string why_undefined(const Comparison& comparison, const std::string& figure) {
  const std::vector<Statistic>& all = comparison.statistics;
  const auto asked = std::ranges::find(all, figure, &Statistic::name);
  const bool of_sets = figure == "mean" || figure.starts_with('p');
  if (asked != all.end() || (!of_sets && figure != "rank" && comparison.count == 0)) return "measured as 0";
  if (of_sets && all.empty() && comparison.error_mean) return "rows have error_mean";
  return of_sets && all.size() == 1 ? "its mean alone was told" : "";
}

// What was found in one measured file; nothing where it does not tell the metric.
std::optional<Verdict> judge_file(const Limit& limit, const std::string& of, const std::vector<Comparison>& comparisons,
                                  const std::vector<Course>& courses) {
  std::optional<Verdict> verdict;
  if (limit.figure == "rmse") {
    for (const Course& course : courses)
      if (course.of == of && course.name == limit.metric)
        verdict = {.limit = limit, .error = course.count > 0 ? std::optional(course.rmse) : std::nullopt, .of = of};
    return verdict;
  }
  for (const Comparison& c : comparisons)
    if (c.of == of && c.metric == limit.metric) {
      verdict = {.limit = limit, .error = c.error(limit.figure), .of = of};
      if (!verdict->error) verdict->reason = why_undefined(c, limit.figure);
    }
  if (verdict && verdict->error) return verdict;
  for (const Comparison& c : comparisons)
    if (c.of == of && c.metric == limit.metric + '.' + limit.figure) {
      verdict = {.limit = limit, .error = c.error("mean"), .of = of};
      if (!verdict->error) verdict->reason = why_undefined(c, "mean");
    }
  return verdict;
}

}  // namespace

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

std::vector<Limit> parse_limits(const std::vector<std::string>& texts, Diagnostics& diagnostics) {
  std::vector<Limit> limits;
  for (const std::string& text : texts) {
    std::string problem;
    if (auto limit = parse_limit(text, problem)) limits.push_back(std::move(*limit));
    else diagnostics.error({std::make_shared<const SourceText>(SourceText{"--max-error", ""})}, problem);
  }
  return limits;
}

Verdict judge(const Limit& limit, const std::vector<Comparison>& comparisons, const std::vector<Course>& courses) {
  std::vector<std::string> files;
  const auto take = [&files](const std::string& of) {
    if (std::ranges::find(files, of) == files.end()) files.push_back(of);
  };
  for (const Comparison& comparison : comparisons) take(comparison.of);
  for (const Course& course : courses) take(course.of);
  std::optional<Verdict> worst;
  for (const std::string& of : files) {
    auto found = judge_file(limit, of, comparisons, courses);
    if (!found) continue;
    const bool worse = !worst || (worst->error && (!found->error || *found->error > *worst->error));
    if (worse) worst = std::move(found);
  }
  return worst.value_or(Verdict{.limit = limit});
}

}  // namespace llmscape::validation
