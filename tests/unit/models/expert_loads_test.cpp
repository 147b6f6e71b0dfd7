// SPDX-License-Identifier: Apache-2.0
#include "models/expert_loads.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace llmscape::models;
using llmscape::testing::approx;

namespace {

// Loads x of [1, 4] times the least one, density x^-1.5: a share of 2 / sqrt(x) - 1 lies above x, the mean is 2.
constexpr Popularity kFourfold{1.5, 4};

}  // namespace

TEST_CASE("experts of less than one row are touched in that share of the steps, others always") {
  CHECK(ExpertLoads(kFourfold, 0.5).touched() == approx(0.5));  // from 0.25 to 1
  CHECK(ExpertLoads(kFourfold, 2).touched() == 1);
  // From 0.5 to 2: sqrt(2) - 1 above one, and below it as many rows.
  CHECK(ExpertLoads(kFourfold, 1).touched() == approx(2 * (std::sqrt(2.0) - 1)));
}

TEST_CASE("an expert fills a further tile where its whole rows do not fit the last one") {
  // From 1 to 4 rows, in tiles of one: shares above 1.5, 2.5 and 3.5.
  const double further = 2 / std::sqrt(1.5) + 2 / std::sqrt(2.5) + 2 / std::sqrt(3.5) - 3;
  CHECK(ExpertLoads(kFourfold, 2).further_tiles(1) == approx(further));
  CHECK(ExpertLoads(kFourfold, 2).further_tiles(4) == 0);
  // Of many tiles the last is half empty: 125 + 1/2 - 1, of rows that are rounded.
  CHECK(ExpertLoads(kFourfold, 2000).further_tiles(16) == approx(124.5 - 0.5 / 16).epsilon(1e-4));
}

TEST_CASE("loads of a wider range vary more") {
  CHECK(ExpertLoads(kFourfold, 7).relative_variance() == approx(14.0 / 3 / 4 - 1));
  CHECK(ExpertLoads({1.5, 400}, 7).relative_variance() > 1);
}

TEST_CASE("few rows are dealt over a range of 200, more over four fifths of the tokens") {
  CHECK(dealt_popularity(1.2, 16, 128, 128) == Popularity{1.2, 200});
  CHECK(dealt_popularity(1.2, 64, 512, 128) == Popularity{1.2, 0.8 * 64});
}
