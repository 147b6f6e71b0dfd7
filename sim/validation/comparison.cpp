// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/comparison.hpp"

#include "base/correlation.hpp"
#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace llmscape::validation {
namespace {

void compare_sets(Comparison& c, const Distribution& predicted, const Distribution& measured) {
  c.statistics = {{"mean", predicted.mean(), measured.mean()}};
  for (const auto& [name, q] : {std::pair("p50", 0.5), std::pair("p90", 0.9), std::pair("p99", 0.99)})
    c.statistics.push_back({name, predicted.quantile(q), measured.quantile(q)});
}

// Of sorted numbers, at least one: the middle one, or the mean of both.
template <class Numbers, class Of>
double median(const Numbers& numbers, Of of) {
  const std::size_t n = numbers.size();
  return (of(numbers[(n - 1) / 2]) + of(numbers[n / 2])) / 2;
}

void compare_pairs(Comparison& c, const std::vector<Pair>& pairs, std::size_t worst) {
  std::vector<std::pair<double, const Pair*>> errors;  // signed
  for (const Pair& pair : pairs)
    if (const auto error = relative_error(pair.predicted, pair.measured)) errors.emplace_back(*error, &pair);
  c.count = static_cast<std::int64_t>(errors.size());  // what was measured as 0 has no error
  const auto both_0 = [](const Pair& pair) { return pair.predicted == 0 && pair.measured == 0; };
  if (errors.empty() && std::ranges::all_of(pairs, both_0))
    c.error_mean = c.error_median = c.error_p90 = c.error_p95 = c.bias = 0;
  if (errors.empty()) return;
  Distribution absolute;
  for (const auto& [error, pair] : errors) absolute.add(std::abs(error));
  c.error_mean = absolute.mean();
  c.error_p90 = absolute.quantile(0.9);
  c.error_p95 = absolute.quantile(0.95);

  std::stable_sort(errors.begin(), errors.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  c.bias = median(errors, [](const auto& error) { return error.first; });
  std::stable_sort(errors.begin(), errors.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  c.error_median = median(errors, [](const auto& error) { return std::abs(error.first); });
  for (std::size_t i = 0; i < std::min(worst, errors.size()); ++i) c.worst.push_back(*errors[i].second);
}

}  // namespace

std::optional<double> relative_error(double predicted, double measured) {
  if (!(measured > 0)) return std::nullopt;
  return predicted / measured - 1;
}

std::optional<double> Statistic::error() const {
  const double nearest = within ? std::clamp(predicted, within->least, within->most) : measured;
  return predicted == nearest ? std::optional(0.0) : relative_error(predicted, nearest);
}

std::optional<double> Comparison::error(std::string_view figure) const {
  for (const Statistic& statistic : statistics) {
    if (statistic.name != figure) continue;
    const auto error = statistic.error();
    return error ? std::optional(std::abs(*error)) : std::nullopt;
  }
  if (figure == "error_mean") return error_mean;
  if (figure == "error_median") return error_median;
  if (figure == "error_p90") return error_p90;
  if (figure == "error_p95") return error_p95;
  if (figure == "bias") return bias ? std::optional(std::abs(*bias)) : std::nullopt;
  if (figure == "rank") return rank ? std::optional(1 - *rank) : std::nullopt;
  return std::nullopt;
}

const std::vector<std::string>& Comparison::figures() {
  static const std::vector<std::string> names = {"mean",         "p50",       "p90",       "p99",  "error_mean",
                                                 "error_median", "error_p90", "error_p95", "bias", "rank"};
  return names;
}

Comparison compare(std::string metric, std::string unit, const std::vector<Pair>& pairs, std::size_t worst) {
  Comparison c;
  c.metric = std::move(metric);
  c.unit = std::move(unit);
  c.count = static_cast<std::int64_t>(pairs.size());
  if (pairs.empty()) return c;
  Distribution predicted, measured;
  std::vector<double> x, y;  // of pairs that have an error
  for (const Pair& pair : pairs) {
    predicted.add(pair.predicted);
    measured.add(pair.measured);
    if (!relative_error(pair.predicted, pair.measured)) continue;
    x.push_back(pair.predicted);
    y.push_back(pair.measured);
  }
  compare_sets(c, predicted, measured);
  compare_pairs(c, pairs, worst);
  c.rank = rank_correlation(x, y);
  return c;
}

Comparison compare_figure(std::string metric, std::string unit, double predicted, double measured,
                          std::optional<Ends> within) {
  Comparison c = compare(std::move(metric), std::move(unit), {{"all", predicted, measured}});
  c.statistics.resize(1);
  Statistic& figure = c.statistics.front();
  figure.within = within;
  if (!within) return c;
  c.bias = figure.error();
  c.error_mean = c.error_median = c.error_p90 = c.error_p95 = c.error("mean");
  return c;
}

}  // namespace llmscape::validation
