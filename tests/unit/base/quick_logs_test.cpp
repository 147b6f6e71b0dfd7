// SPDX-License-Identifier: Apache-2.0
#include "base/quick_logs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/random.hpp"

namespace llmscape {
namespace {

TEST_CASE("base-2 logarithms are right to 1e-15 of themselves or of 1, of the least and the largest numbers too") {
  const auto check = [](double value) {
    CAPTURE(value);
    const long double log = quick_log2(value), exact = std::log2(static_cast<long double>(value));
    CHECK(std::abs(log - exact) <= 1e-15L * std::max(1.0L, std::abs(exact)));
  };
  for (const double value : {std::numeric_limits<double>::min(), std::numeric_limits<double>::max(), 0.5, 1.0, 3.0})
    check(value);
  RandomStream random = RandomStreams(1).stream("logs");
  for (int i = 0; i < 10'000; ++i) {
    check(std::exp(1400 * random.uniform() - 700));
    check(0.98 + 0.04 * random.uniform());
  }
}

TEST_CASE("powers of e from a half to two are right to 1e-15") {
  const auto check = [](double power) {
    CAPTURE(power);
    const long double value = quick_exp(power), exact = std::exp(static_cast<long double>(power));
    CHECK(std::abs(value - exact) <= 1e-15L * exact);
  };
  for (const double power : {-std::log(2.0), 0.0, std::log(2.0)}) check(power);
  CHECK(quick_exp(0) == 1);
  RandomStream random = RandomStreams(1).stream("powers");
  for (int i = 0; i < 10'000; ++i) check((2 * random.uniform() - 1) * std::log(2.0));
}

TEST_CASE("logarithms and powers have the same bits with every C library") {
  CHECK(quick_log2(10) == 0x1.a934f0979a372p+1);
  CHECK(quick_exp(0.1) == 0x1.1aec7b35a00d3p+0);
}

}  // namespace
}  // namespace llmscape
