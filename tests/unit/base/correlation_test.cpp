// SPDX-License-Identifier: Apache-2.0
#include "base/correlation.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <cmath>

using llmscape::testing::approx;

namespace llmscape {

TEST_CASE("ranks know the order alone, and values that rounding tells apart are equal") {
  // Deviations (-1, 0, 1) and (-3, -2, 5): 8 / sqrt(2 x 38).
  CHECK(*correlation({1, 2, 3}, {0, 1, 8}) == approx(8 / std::sqrt(76)));
  CHECK(*rank_correlation({1, 2, 3}, {0, 1, 8}) == approx(1));
  CHECK_FALSE(rank_correlation({1, 2, 3}, {0.3, 0.1 + 0.2, 0.3}));
  CHECK(*rank_correlation({1, 2, 3}, {0.3, 0.3 * (1 + 1e-6), 0.3 * (1 + 2e-6)}) == approx(1));
  CHECK_FALSE(correlation({1}, {2}));
}

}  // namespace llmscape
