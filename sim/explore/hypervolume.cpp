// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/hypervolume.hpp"

#include <algorithm>
#include <limits>

namespace llmscape::explore {
namespace {

double box(const Losses& point, std::span<const double> reference) {
  double volume = 1;
  for (std::size_t k = 0; k < reference.size(); ++k) volume *= reference[k] - point[k];
  return volume;
}

double area(std::vector<Losses>& points, std::span<const double> reference) {
  std::ranges::sort(points);
  double sum = 0, height = reference[1];
  for (const Losses& point : points) {
    if (point[1] >= height) continue;
    sum += (reference[0] - point[0]) * (height - point[1]);
    height = point[1];
  }
  return sum;
}

std::vector<Losses> frontier_of(std::vector<Losses> points) {
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  std::vector<Losses> kept;
  for (const std::size_t point : non_dominated(points)) kept.push_back(std::move(points[point]));
  return kept;
}

// What of the box of `point` the others dominate, in as many objectives as the reference has.
std::vector<Losses> limited(std::span<const Losses> others, const Losses& point, std::size_t objectives) {
  std::vector<Losses> all;
  for (const Losses& other : others) {
    Losses& worse = all.emplace_back(objectives);
    for (std::size_t k = 0; k < objectives; ++k) worse[k] = std::max(point[k], other[k]);
  }
  return all;
}

// Of points that dominate the reference.
double volume(std::vector<Losses> points, std::span<const double> reference) {
  if (reference.size() == 2) return area(points, reference);
  if (reference.size() == 1) return points.empty() ? 0 : reference[0] - (*std::ranges::min_element(points))[0];
  points = frontier_of(std::move(points));
  const std::size_t last = reference.size() - 1;
  std::ranges::stable_sort(points, [last](const Losses& a, const Losses& b) { return a[last] > b[last]; });
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    // The points behind this one are better in the last objective: they cover its box over the whole depth.
    const auto shade = limited(std::span(points).subspan(i + 1), points[i], last);
    const auto face = reference.first(last);
    sum += (reference[last] - points[i][last]) * (box(points[i], face) - volume(shade, face));
  }
  return sum;
}

}  // namespace

double hypervolume(const std::vector<Losses>& points, std::span<const double> reference) {
  std::vector<Losses> inside;
  for (const Losses& point : points)
    if (std::ranges::equal(point, reference, std::less())) inside.push_back(point);
  return volume(std::move(inside), reference);
}

std::vector<double> exclusive_hypervolumes(const std::vector<Losses>& frontier, std::span<const double> reference) {
  std::vector<double> exclusive;
  for (std::size_t i = 0; i < frontier.size(); ++i) {
    std::vector<Losses> others = limited(frontier, frontier[i], reference.size());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    exclusive.push_back(hypervolume({frontier[i]}, reference) - hypervolume(others, reference));
  }
  return exclusive;
}

std::optional<std::size_t> knee(const std::vector<Losses>& frontier) {
  if (frontier.empty()) return std::nullopt;
  const std::size_t objectives = frontier.front().size();
  Losses best = frontier.front(), worst = frontier.front();
  for (const Losses& point : frontier)
    for (std::size_t k = 0; k < objectives; ++k) {
      best[k] = std::min(best[k], point[k]);
      worst[k] = std::max(worst[k], point[k]);
    }
  std::vector<Losses> scaled = frontier;
  for (Losses& point : scaled)
    for (std::size_t k = 0; k < objectives; ++k)
      point[k] = worst[k] > best[k] ? (point[k] - best[k]) / (worst[k] - best[k]) : 0;

  std::vector<double> merit;
  if (objectives == 2)  // the line between the ends is x + y = 1
    for (const Losses& point : scaled) merit.push_back(1 - point[0] - point[1]);
  else merit = exclusive_hypervolumes(scaled, Losses(objectives, 1));
  const auto most = std::ranges::max_element(merit);
  constexpr double kRounding = 1e-9;
  if (*most < kRounding) return std::nullopt;
  return static_cast<std::size_t>(most - merit.begin());
}

}  // namespace llmscape::explore
