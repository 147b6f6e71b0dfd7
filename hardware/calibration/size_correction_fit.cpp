// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/size_correction_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace llmscape::hardware {
namespace {

constexpr double kMostSizePercent = 69;  // per cent, what a device file takes

// Means at whole places, of those that have residuals.
struct Point {
  double place = 0, sum = 0, count = 0;
  [[nodiscard]] double mean() const { return sum / count; }
};

std::vector<Point> points_of(std::span<const SizeResidual> residuals, double first) {
  std::vector<Point> points;
  for (const SizeResidual& r : residuals) {
    const double place = std::round(std::log2(r.bytes / first));
    auto point = std::ranges::find(points, place, &Point::place);
    if (point == points.end()) point = points.insert(points.end(), Point{place});
    point->sum += r.log;
    point->count += 1;
  }
  std::ranges::sort(points, {}, &Point::place);
  return points;
}

// What the points say at `place`: in between the line of the next ones, beyond them the last one.
double between(const std::vector<Point>& points, double place) {
  const auto above = std::ranges::find_if(points, [&](const Point& p) { return p.place >= place; });
  if (above == points.end()) return points.back().mean();
  if (above == points.begin() || above->place == place) return above->mean();
  const Point& below = *std::prev(above);
  return std::lerp(below.mean(), above->mean(), (place - below.place) / (above->place - below.place));
}

}  // namespace

SizeCorrection size_correction(std::span<const SizeResidual> residuals, Bytes first, std::optional<Bytes> switches_at) {
  SizeCorrection correction{first, {}, switches_at};
  const std::vector<Point> all = points_of(residuals, first.si());
  std::vector<Point> below, from;
  if (switches_at)
    for (const Point& p : all) (first.si() * std::exp2(p.place) < switches_at->si() ? below : from).push_back(p);
  for (std::size_t i = 0; i <= static_cast<std::size_t>(all.back().place); ++i) {
    const auto place = static_cast<double>(i);
    const bool under = switches_at && first.si() * std::exp2(place) < switches_at->si();
    const std::vector<Point>& side = !switches_at ? all : under ? below : from;
    const double log = between(side.empty() ? all : side, place);
    correction.percent.push_back(std::clamp(std::round(1000 * log) / 10, -kMostSizePercent, kMostSizePercent));
  }
  return correction;
}

}  // namespace llmscape::hardware
