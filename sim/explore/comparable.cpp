// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/comparable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <utility>

namespace llmscape::explore {
namespace {

constexpr double kSameLength = 1e-3;  // relative
constexpr double kSameTime = 1e-9;    // relative: one moment, summed up in another order

constexpr std::string_view kPeak = "peak_w", kMeanPower = "mean_w";

// Each with its ratio, which no length of the window changes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kSums = {
    {{"total_joules", "joules_per_output_token"},
     {"total_cost", "cost_per_million_output_tokens"},
     {"co2_g", "co2_g_per_million_output_tokens"}}};

bool near(const std::optional<double>& a, const std::optional<double>& b, double tolerance) {
  return !a || !b || std::abs(*a - *b) <= tolerance * std::max(std::abs(*a), std::abs(*b));
}

bool is_whole_run(const Extent& extent) {
  return extent.window_s && extent.simulated_s && near(extent.window_s, extent.simulated_s, kSameTime);
}

std::optional<double> value_of_metric(const Configuration& configuration, std::string_view name) {
  const auto& metric =
      configuration.metrics[static_cast<std::size_t>(metrics::find_column(name) - metrics::columns().data())];
  return metric ? std::optional(metric->value) : std::nullopt;
}

// Whether the name, which stands in the text from `at` on, is divided by another one or divides.
bool in_ratio(std::string_view text, std::size_t at, std::size_t length) {
  const std::size_t before = at == 0 ? text.npos : text.find_last_not_of(" (", at - 1);
  if (before != text.npos && text[before] == '/') return true;
  const std::size_t after = text.find_first_not_of(" )", at + length);
  if (after == text.npos || text[after] != '/') return false;
  const std::size_t divisor = text.find_first_not_of(" (", after + 1);
  return divisor != text.npos && std::isalpha(static_cast<unsigned char>(text[divisor])) != 0;
}

// The metrics in it for which `asked` holds, those in ratios aside if `plain`.
template <class Asked>
std::vector<const metrics::Column*> metrics_in(const Expression& expression, bool plain, const Asked& asked) {
  std::vector<const metrics::Column*> columns;
  std::size_t at = 0;
  const std::string_view text = expression.text();
  for (const Expression::Name& name : expression.names()) {  // in their order
    const std::size_t found = text.find(name.name, at);
    if (found != text.npos) at = found + name.name.size();
    const metrics::Column* column = metrics::find_column(name.name);
    if (!column || !asked(*column->metric)) continue;
    if (!plain || found == text.npos || !in_ratio(text, found, name.name.size())) columns.push_back(column);
  }
  return columns;
}

}  // namespace

Extent extent_of(const Configuration& configuration) {
  return {value_of_metric(configuration, "window_s"), value_of_metric(configuration, "simulated_s"),
          value_of_metric(configuration, "completed"), value_of_metric(configuration, "peak_window_s")};
}

bool is_sum(const metrics::Metric& metric) {
  return std::ranges::any_of(kSums, [&](const auto& sum) { return sum.first == metric.key; });
}

bool is_counter(const metrics::Metric& metric) {
  constexpr std::array<std::string_view, 11> kCounters = {"computed",    "reused",      "fetched",     "recomputed",
                                                          "invalidated", "discarded",   "preemptions", "loads",
                                                          "load_s",      "model_loads", "model_load_s"};
  return std::ranges::find(kCounters, metric.key) != kCounters.end();
}

bool equal_windows(const Extent& a, const Extent& b) { return near(a.window_s, b.window_s, kSameLength); }

bool comparable(const metrics::Metric& metric, const Extent& a, const Extent& b) {
  if (metric.key == kPeak) return near(a.peak_window_s, b.peak_window_s, kSameTime);
  if (!is_sum(metric) || equal_windows(a, b)) return true;
  return is_whole_run(a) && is_whole_run(b) && a.completed && b.completed && *a.completed == *b.completed;
}

std::string_view instead_of(const metrics::Metric& metric) {
  for (const auto& [sum, ratio] : kSums)
    if (sum == metric.key) return ratio;
  return metric.key == kPeak ? kMeanPower : std::string_view();
}

std::string unlike(const metrics::Metric& metric, const Extent& a, const Extent& b) {
  const bool peak = metric.key == kPeak;
  const auto &first = peak ? a.peak_window_s : a.window_s, &second = peak ? b.peak_window_s : b.window_s;
  const auto shown = [](const std::optional<double>& length) {
    return length ? fmt::format("{:.4g}", *length) : std::string("unknown");
  };
  return fmt::format("{} of {} and {} s", peak ? "slices" : "windows", shown(first), shown(second));
}

std::vector<const metrics::Column*> sums_in(const Expression& expression) {
  return metrics_in(expression, true, is_sum);
}

std::vector<const metrics::Column*> guarded_in(const Expression& expression) {
  std::vector<const metrics::Column*> all = sums_in(expression);
  std::ranges::move(metrics_in(expression, false, [](const metrics::Metric& metric) { return metric.key == kPeak; }),
                    std::back_inserter(all));
  return all;
}

std::vector<const metrics::Column*> incomparable(const Expression& expression, const ResultsTable& table,
                                                 bool include_invalid) {
  const std::vector<const metrics::Column*> looked_at = guarded_in(expression);
  std::vector<const metrics::Column*> found;
  if (looked_at.empty()) return found;
  const std::vector<Configuration> all = configurations(table);
  for (const metrics::Column* column : looked_at) {
    std::optional<Extent> first;
    for (const Configuration& one : all) {
      if ((!include_invalid && one.verdict != "valid") || !value_of_metric(one, column->name)) continue;
      const Extent extent = extent_of(one);
      if (!first) first = extent;
      if (comparable(*column->metric, *first, extent) || std::ranges::find(found, column) != found.end()) continue;
      found.push_back(column);
    }
  }
  return found;
}

std::string advice_on(const metrics::Metric& metric) {
  return fmt::format(
      "look at {}{}", instead_of(metric),
      is_sum(metric) ? ", or take figures of whole runs: 'window: {rule: whole}' without a warm-up" : "");
}

void check_comparable(std::string_view what, const SourceRange& where, const Expression& expression,
                      const ResultsTable& table, bool include_invalid, Diagnostics& diagnostics) {
  for (const metrics::Column* column : incomparable(expression, table, include_invalid))
    diagnostics.error(where,
                      fmt::format("{} compares {}, {}", what, column->name,
                                  is_sum(*column->metric)
                                      ? "a sum over windows that differ in length: less of it in a shorter one is no "
                                        "better"
                                      : "the peak of slices that differ in length: shorter ones have higher peaks"),
                      advice_on(*column->metric));
}

}  // namespace llmscape::explore
