// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/hypervolume.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "tests/support/approx.hpp"
#include "tests/unit/explore/random_points.hpp"

using namespace llmscape::explore;
using namespace llmscape::explore::test;
using llmscape::testing::approx;

namespace {

// The union of all boxes by inclusion and exclusion.
double by_inclusion_and_exclusion(const std::vector<Losses>& points, const Losses& reference) {
  double sum = 0;
  for (std::uint32_t set = 1; set < 1U << points.size(); ++set) {
    double box = 1, sign = -1;
    for (std::size_t i = 0; i < points.size(); ++i)
      if ((set >> i & 1U) != 0) sign = -sign;
    for (std::size_t k = 0; k < reference.size(); ++k) {
      double worst = points[static_cast<std::size_t>(std::countr_zero(set))][k];
      for (std::size_t i = 0; i < points.size(); ++i)
        if ((set >> i & 1U) != 0) worst = std::max(worst, points[i][k]);
      box *= std::max(0., reference[k] - worst);
    }
    sum += sign * box;
  }
  return sum;
}

}  // namespace

TEST_CASE("a staircase of n steps covers 1 + 2 + ... + n squares") {
  std::vector<Losses> points;
  for (int i = 0; i < 20; ++i) points.push_back({1. * i, 19. - i});
  CHECK(hypervolume(points, Losses{20, 20}) == 20 * 21 / 2);
}

TEST_CASE("boxes that share one unit cube and reach out by one more each cover one cube more than there are of them") {
  for (std::size_t objectives = 2; objectives <= 6; ++objectives) {
    std::vector<Losses> points(objectives, Losses(objectives, 1));
    for (std::size_t k = 0; k < objectives; ++k) points[k][k] = 0;
    CHECK(hypervolume(points, Losses(objectives, 2)) == static_cast<double>(objectives + 1));
  }
}

TEST_CASE("the hypervolume is that of inclusion and exclusion, in two to five objectives") {
  for (std::size_t objectives = 2; objectives <= 5; ++objectives)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto points = random_points(2 + seed % 9, objectives, 3 + seed, seed);
      const Losses reference(objectives, 3. + 0.9 * static_cast<double>(seed));  // some points lie beyond it
      CAPTURE(objectives);
      CAPTURE(seed);
      CHECK(hypervolume(points, reference) == approx(by_inclusion_and_exclusion(points, reference)));
    }
}

TEST_CASE("the hypervolume depends neither on the order of points nor on dominated ones") {
  auto points = random_points(40, 4, 9, 3);
  const Losses reference(4, 10);
  const double expected = hypervolume(points, reference);
  std::ranges::reverse(points);
  CHECK(hypervolume(points, reference) == approx(expected));
  std::vector<Losses> frontier;
  for (const std::size_t place : non_dominated(points)) frontier.push_back(points[place]);
  REQUIRE(frontier.size() < points.size());
  CHECK(hypervolume(frontier, reference) == approx(expected));
}

TEST_CASE("no points, and points that are not better than the reference everywhere, cover nothing") {
  CHECK(hypervolume({}, Losses{1, 1}) == 0);
  CHECK(hypervolume({{0, 1}, {2, -5}}, Losses{1, 1}) == 0);
}

TEST_CASE("an exclusive hypervolume is what is lost without the point, also where points share coordinates") {
  for (std::size_t objectives = 2; objectives <= 5; ++objectives)
    for (std::uint64_t most = 2; most <= 12; ++most) {
      const auto points = random_points(9, objectives, most, 5 + most);
      const Losses reference(objectives, static_cast<double>(most));  // some points lie on it
      const auto exclusive = exclusive_hypervolumes(points, reference);
      REQUIRE(exclusive.size() == points.size());
      CAPTURE(objectives);
      CAPTURE(most);
      for (std::size_t i = 0; i < points.size(); ++i) {
        auto others = points;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        CHECK(exclusive[i] ==
              approx(by_inclusion_and_exclusion(points, reference) - by_inclusion_and_exclusion(others, reference)));
      }
    }
}

TEST_CASE("with one objective the hypervolume is the way from the reference to the best point") {
  CHECK(hypervolume({{3}, {1}, {7}}, Losses{5}) == 4);
}

TEST_CASE("three corners of a cube of side 2, two of them at the same height: 4 + 2 + 1 unit cubes, each point alone") {
  // {0,1,0} covers 2 x 1 x 2, {1,0,0} 1 x 2 x 2 (they share 1 x 1 x 2); {0,0,1} covers 2 x 2 x 1 and adds the one unit
  // cube over [0, 1] x [0, 1]: 4 + 2 + 1. Alone: 1, 1 and 1 unit cubes below z = 1 or over that square.
  const std::vector<Losses> points = {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
  CHECK(hypervolume(points, Losses{2, 2, 2}) == 7);
  CHECK(exclusive_hypervolumes(points, Losses{2, 2, 2}) == std::vector<double>{1, 1, 1});
}

TEST_CASE("the knee of a quarter of a circle is in its middle, however the objectives are scaled") {
  std::vector<Losses> points;
  for (int i = 0; i <= 10; ++i) {
    const double angle = std::numbers::pi / 2 * i / 10;
    points.push_back({1e-3 * (1 - std::cos(angle)), 1e6 * (1 - std::sin(angle))});
  }
  CHECK(knee(points) == 5);
}

TEST_CASE("the knee of x y = 100 from 1 to 100 is at 10") {
  std::vector<Losses> points;
  for (int i = 0; i <= 20; ++i) points.push_back({std::pow(10, i / 10.), 100 / std::pow(10, i / 10.)});
  CHECK(points[*knee(points)][0] == approx(10));
}

TEST_CASE("a line and a frontier that bends the other way have no knee") {
  CHECK_FALSE(knee({{0, 4}, {1, 3}, {2, 2}, {4, 0}}));
  CHECK_FALSE(knee({{0, 1}, {0.9, 0.9}, {1, 0}}));
  CHECK_FALSE(knee({}));
  CHECK(knee({{3, 4}}) == 0);
}

TEST_CASE("with three objectives the knee is the point that dominates most alone") {
  CHECK(knee({{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0.5, 0.5, 0.5}, {0.1, 0.6, 0.7}}) == 3);
}
