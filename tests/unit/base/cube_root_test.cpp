// SPDX-License-Identifier: Apache-2.0
#include "base/cube_root.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/random.hpp"

namespace llmscape {
namespace {

TEST_CASE("cube roots are right to three units of the last place, of the least and the largest numbers too") {
  const auto check = [](double value) {
    CAPTURE(value);
    const long double root = cube_root(value), exact = std::cbrt(static_cast<long double>(value));
    CHECK(std::abs(root - exact) <= 3 * std::numeric_limits<double>::epsilon() * exact);
  };
  CHECK(cube_root(0) == 0);
  for (const double value : {std::numeric_limits<double>::min(), std::numeric_limits<double>::max(), 0.5, 1.0, 3.0})
    check(value);
  RandomStream random = RandomStreams(1).stream("cubes");
  for (int i = 0; i < 10'000; ++i) check(std::exp(1400 * random.uniform() - 700));
}

TEST_CASE("a cube root has the bits that results were recorded with, whatever the C library rounds to") {
  CHECK(cube_root(2) == 0x1.428a2f98d728bp+0);
  CHECK(cube_root(1e-18) == 0x1.0c6f7a0b5ed8dp-20);
}

}  // namespace
}  // namespace llmscape
