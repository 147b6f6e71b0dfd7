// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "base/random.hpp"

namespace llmscape::workloads {

// A law of a real number: each call draws a value from the stream. Lengths and durations give it units and limits.
using Law = std::function<double(RandomStream&)>;

Law fixed_law(double value);
Law uniform_law(double low, double high);
Law exponential_law(double mean);
// By mean and coefficient of variation (standard deviation / mean, above 0).
Law log_normal_law(double mean, double cv);
Law gamma_law(double mean, double cv);
// By mean and tail index: P(X > x) = (x_min / x)^shape, shape above 1 (a smaller one has no mean).
Law pareto_law(double mean, double shape);
// Whole numbers from 1 with P(n) = (1 - p)^(n - 1) p, p = 1 / mean: how often something with a constant chance to go on
// happens. mean >= 1.
Law geometric_law(double mean);
// Whole numbers from `low` to `high`, the k-th with probability proportional to 1 / k^exponent.
Law zipf_law(std::int64_t low, std::int64_t high, double exponent);
// The observed values, each with its weight (all equal when `weights` is empty).
Law empirical_law(std::vector<double> values, std::vector<double> weights);
// The value at a share in (0, 1) of a table by rising shares from 0 to 1, linear in between.
double quantile(const std::vector<double>& shares, const std::vector<double>& values, double share);
// The distribution whose quantile at shares[i] is values[i], linear in between; shares rise from 0 to 1.
Law quantile_law(std::vector<double> shares, std::vector<double> values);

}  // namespace llmscape::workloads
