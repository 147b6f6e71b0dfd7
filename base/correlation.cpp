// SPDX-License-Identifier: Apache-2.0
#include "base/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace llmscape {
namespace {

constexpr double kRounding = 1e-9;  // of a value

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    const double least = values[order[first]];
    while (end < order.size() && values[order[end]] - least <= kRounding * std::abs(least)) ++end;
    for (std::size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + 1 + end) / 2;
  }
  return ranks;
}

}  // namespace

std::optional<double> correlation(const std::vector<double>& xs, const std::vector<double>& ys) {
  const auto n = static_cast<double>(xs.size());
  const double mean_x = std::accumulate(xs.begin(), xs.end(), 0.0) / n;
  const double mean_y = std::accumulate(ys.begin(), ys.end(), 0.0) / n;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    xy += (xs[i] - mean_x) * (ys[i] - mean_y);
    xx += (xs[i] - mean_x) * (xs[i] - mean_x);
    yy += (ys[i] - mean_y) * (ys[i] - mean_y);
  }
  if (!(xx > 0 && yy > 0)) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

std::optional<double> rank_correlation(const std::vector<double>& xs, const std::vector<double>& ys) {
  return correlation(ranks(xs), ranks(ys));
}

}  // namespace llmscape
