// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/dominance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "tests/unit/explore/random_points.hpp"

using namespace llmscape::explore;
using namespace llmscape::explore::test;

namespace {

using Places = std::vector<std::size_t>;

Places by_brute_force(const std::vector<Losses>& points) {
  Places kept;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (std::ranges::none_of(points, [&](const Losses& other) { return dominates(other, points[i]); }))
      kept.push_back(i);
  return kept;
}

}  // namespace

TEST_CASE("one point dominates another where it is nowhere worse and somewhere better") {
  CHECK(dominates(Losses{1, 2}, Losses{1, 3}));
  CHECK_FALSE(dominates(Losses{1, 3}, Losses{1, 2}));
  CHECK_FALSE(dominates(Losses{1, 2}, Losses{1, 2}));
  CHECK_FALSE(dominates(Losses{1, 2, 9}, Losses{2, 3, 8}));
}

TEST_CASE("the points that are not dominated are those of the definition, in two to five objectives") {
  for (std::size_t objectives = 2; objectives <= 5; ++objectives)
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      // From crowded, with many equal points, to sparse.
      const auto points = random_points(10 + 5 * seed, objectives, 2 + seed * seed, seed);
      CAPTURE(objectives);
      CAPTURE(seed);
      CHECK(non_dominated(points) == by_brute_force(points));
    }
}

TEST_CASE("equal points stand on a frontier together") {
  CHECK(non_dominated({{1, 2}, {2, 1}, {1, 2}, {2, 2}}) == Places{0, 1, 2});
  CHECK(non_dominated({{1, 2, 3}, {1, 2, 3}}) == Places{0, 1});
  CHECK(non_dominated({}).empty());
}

TEST_CASE("the frontier does not depend on the order of the points") {
  for (const std::size_t objectives : {2, 4}) {
    auto points = random_points(300, objectives, 30, 7);
    const auto values = [&] {
      std::multiset<Losses> all;
      for (const std::size_t place : non_dominated(points)) all.insert(points[place]);
      return all;
    };
    const auto expected = values();
    std::mt19937_64 draw(1);
    for (int round = 0; round < 20; ++round) {
      for (std::size_t i = points.size() - 1; i > 0; --i) std::swap(points[i], points[draw() % (i + 1)]);
      CHECK(values() == expected);
    }
  }
}

TEST_CASE("a frontier of 100,000 points in two objectives takes less than a second") {
  std::vector<Losses> points;
  for (int i = 0; i < 100'000; ++i) points.push_back({(i * 7919) % 100'000 * 1., 100'000. - (i * 7919) % 100'000});
  const std::clock_t start = std::clock();
  CHECK(non_dominated(points).size() == points.size());  // all on one line
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 1);
}

TEST_CASE("within an epsilon is relative in each objective, whatever its sign") {
  CHECK(within(Losses{1.01, 2}, Losses{1, 2}, 0.02));
  CHECK_FALSE(within(Losses{1.03, 2}, Losses{1, 2}, 0.02));
  CHECK(within(Losses{-0.99, 1}, Losses{-1, 2}, 0.02));
  CHECK_FALSE(within(Losses{-0.97, 1}, Losses{-1, 2}, 0.02));
}
