// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/dominance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace llmscape::explore {
namespace {

std::vector<std::size_t> in_lexicographic_order(const std::vector<Losses>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  return order;
}

}  // namespace

bool dominates(std::span<const double> a, std::span<const double> b) {
  bool better = false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] > b[k]) return false;
    better = better || a[k] < b[k];
  }
  return better;
}

std::vector<std::size_t> non_dominated(const std::vector<Losses>& points) {
  std::vector<std::size_t> frontier;
  std::vector<std::size_t> nearest_first;  // the frontier, those that dominated last in front
  for (const std::size_t point : in_lexicographic_order(points)) {
    const bool two = points[point].size() == 2;
    // With two objectives, what came before is no worse in the first: only the best of the second can dominate.
    const auto end = two && !frontier.empty() ? nearest_first.begin() + 1 : nearest_first.end();
    const auto better = std::find_if(nearest_first.begin(), end,
                                     [&](std::size_t other) { return dominates(points[other], points[point]); });
    if (better != end) {
      std::rotate(nearest_first.begin(), better, better + 1);
      continue;
    }
    frontier.push_back(point);
    if (two) nearest_first.assign(1, point);
    else nearest_first.push_back(point);
  }
  std::ranges::sort(frontier);
  return frontier;
}

bool within(std::span<const double> a, std::span<const double> b, double epsilon) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k] > b[k] + epsilon * std::abs(b[k])) return false;
  return true;
}

}  // namespace llmscape::explore
