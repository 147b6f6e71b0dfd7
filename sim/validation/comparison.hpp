// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape::validation {

// One thing that was predicted and measured: a request, a step, a row of a table. Both in the metric's unit, at least
// 0.
struct Pair {
  std::string name;
  double predicted = 0, measured = 0;
};

// predicted / measured - 1; nothing where 0 was measured.
std::optional<double> relative_error(double predicted, double measured);

// What is known of a figure that was not measured itself: a quantile of a histogram lies within one bucket.
struct Ends {
  double least = 0, most = 0;
};

// One statistic of all predicted values beside that of all measured ones.
struct Statistic {
  std::string_view name;  // mean, p50, p90, p99
  double predicted = 0, measured = 0;
  std::optional<Ends> within{};  // where `measured` lies, as far as that is known; absent: it was measured
  // The relative error. Where only ends are known: to the nearest of them, none within. 0 predicted where 0 was
  // measured is no error.
  [[nodiscard]] std::optional<double> error() const;
};

// How well one metric was predicted.
struct Comparison {
  std::string metric;      // "ttft", "tpot", "decode step", ...
  std::string unit;        // "s", "tokens", ... of the statistics
  std::int64_t count = 0;  // pairs
  // Set against set, whichever request had which value: what a summary of the run would show.
  std::vector<Statistic> statistics;
  // Pair by pair: absolute relative errors, and the median of the signed ones. Pairs that were measured as 0 are left
  // out of all five; where all were, errors are 0 if all were predicted so too, and else not defined.
  std::optional<double> error_mean, error_median, error_p90, error_p95, bias;
  // Spearman's rank correlation of the pairs that have an error, ties at their mean rank; nothing where either side has
  // one value only.
  std::optional<double> rank;
  std::vector<Pair> worst;  // the largest absolute relative errors first
  std::string of{};         // the file that was measured, where there are several; else empty

  // The absolute error called `figure`: one of figures(). Nothing where it is not defined; rank is 1 - correlation.
  [[nodiscard]] std::optional<double> error(std::string_view figure) const;
  // mean, p50, p90, p99, error_mean, error_median, error_p90, error_p95, bias, rank.
  static const std::vector<std::string>& figures();
};

// Quantiles are of the nearest rank, as everywhere. Keeps the `worst` largest errors.
Comparison compare(std::string metric, std::string unit, const std::vector<Pair>& pairs, std::size_t worst = 5);
// Of a figure that both sides tell of all ("ttft.p99"): one value, which has a mean and no quantiles.
Comparison compare_figure(std::string metric, std::string unit, double predicted, double measured,
                          std::optional<Ends> within = {});

}  // namespace llmscape::validation
