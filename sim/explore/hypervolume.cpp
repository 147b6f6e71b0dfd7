// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/hypervolume.hpp"

#include <algorithm>
#include <functional>

#include "sim/explore/pagmo_functions.hpp"

namespace llmscape::explore {
namespace {

bool inside(const Losses& point, std::span<const double> reference) {
  return std::ranges::equal(point, reference, std::less());
}

}  // namespace

double hypervolume(const std::vector<Losses>& points, std::span<const double> reference) {
  std::vector<Losses> counted;
  for (const Losses& point : points)
    if (inside(point, reference)) counted.push_back(point);
  if (counted.empty()) return 0;
  if (reference.size() == 1) return reference[0] - std::ranges::min(counted)[0];
  return pagmo_functions().volume(counted, {reference.begin(), reference.end()});
}

std::vector<double> exclusive_hypervolumes(const std::vector<Losses>& frontier, std::span<const double> reference) {
  std::vector<double> exclusive(frontier.size(), 0);
  std::vector<Losses> counted;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < frontier.size(); ++i)
    if (inside(frontier[i], reference)) {
      counted.push_back(frontier[i]);
      places.push_back(i);
    }
  if (counted.empty()) return exclusive;
  if (reference.size() == 1) {  // the best has what lies between it and the next
    std::ranges::sort(places, {}, [&](std::size_t place) { return frontier[place][0]; });
    exclusive[places[0]] = (places.size() > 1 ? frontier[places[1]][0] : reference[0]) - frontier[places[0]][0];
    return exclusive;
  }
  const auto volumes = pagmo_functions().exclusive_volumes(counted, {reference.begin(), reference.end()});
  for (std::size_t i = 0; i < places.size(); ++i) exclusive[places[i]] = volumes[i];
  return exclusive;
}

std::optional<std::size_t> knee(const std::vector<Losses>& frontier) {
  if (frontier.empty() || frontier.front().size() < 2) return std::nullopt;
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
