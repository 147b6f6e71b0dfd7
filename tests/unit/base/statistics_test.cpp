// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "base/random.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using llmscape::testing::approx;

namespace {

constexpr auto kLimit = static_cast<std::int64_t>(Values::kExactEntries);

// 1 / count, 2 / count, ... 1: quantile q is q.
Distribution ramp(std::int64_t count) {
  Distribution values;
  for (std::int64_t i = 1; i <= count; ++i) values.add(static_cast<double>(i) / static_cast<double>(count));
  return values;
}

}  // namespace

TEST_CASE("a quantile is the value at the nearest rank") {
  Distribution values;
  for (const double value : {40, 15, 20, 50, 35}) values.add(value);
  CHECK(values.quantile(0) == 15);
  CHECK(values.quantile(0.05) == 15);
  CHECK(values.quantile(0.30) == 20);
  CHECK(values.quantile(0.40) == 20);
  CHECK(values.quantile(0.50) == 35);
  CHECK(values.quantile(1) == 50);
  CHECK(values.mean() == 32);
  CHECK(values.minimum() == 15);
  CHECK(values.maximum() == 50);
  values.add(60);  // also after a quantile was asked for
  CHECK(values.quantile(1) == 60);
}

TEST_CASE("a rank is not pushed up by rounding of q n") {
  CHECK(ramp(1000).quantile(0.07) == 0.070);  // 0.07 * 1000 is 70.00000000000001
  CHECK(ramp(100).quantile(0.29) == 0.29);
}

TEST_CASE("an empty distribution is all zeros") {
  const Distribution none;
  CHECK(none.count() == 0);
  CHECK(none.mean() == 0);
  CHECK(none.quantile(0.5) == 0);
  CHECK(none.share_at_most(1) == 0);
}

TEST_CASE("a weight beyond 32 bits counts whole") {
  constexpr std::int64_t kMany = 3 * (std::int64_t{1} << 32U) + 5;
  Distribution values;
  values.add(0.25, kMany);
  values.add(7.5, kMany + 2);
  CHECK(values.count() == 2 * kMany + 2);
  CHECK(values.quantile(0.5) == 7.5);
  CHECK(values.quantile(0.4999999) == 0.25);
  CHECK(values.share_at_most(1) == static_cast<double>(kMany) / static_cast<double>(2 * kMany + 2));
}

TEST_CASE("a weight counts as so many equal values") {
  Distribution weighted, repeated;
  RandomStream random(3);
  for (int i = 0; i < 500; ++i) {
    const double value = static_cast<double>(random.below(50));  // with ties
    const auto weight = static_cast<std::int64_t>(random.below(4));
    weighted.add(value, weight);
    for (std::int64_t n = 0; n < weight; ++n) repeated.add(value);
  }
  CHECK(weighted.count() == repeated.count());
  CHECK(weighted.sum() == repeated.sum());
  CHECK(weighted.standard_deviation() == approx(repeated.standard_deviation()).epsilon(1e-13));
  for (int i = 0; i <= 64; ++i) CHECK(weighted.quantile(i / 64.0) == repeated.quantile(i / 64.0));
  for (int limit = 0; limit < 51; ++limit) CHECK(weighted.share_at_most(limit) == repeated.share_at_most(limit));
}

TEST_CASE("the standard deviation is the population's, and small ones survive beside a large mean") {
  Distribution values;
  for (const double value : {2, 4, 4, 4, 5, 5, 7, 9}) values.add(value);  // mean 5, squared distances 32
  CHECK(values.standard_deviation() == approx(2).epsilon(1e-15));
  Distribution equal;
  equal.add(0.1, 3);
  equal.add(0.1);
  CHECK(equal.standard_deviation() == 0);
  Distribution far;
  for (const double value : {1e9, 1e9 + 1, 1e9 + 2}) far.add(value);
  CHECK(far.standard_deviation() == approx(std::sqrt(2.0 / 3)).epsilon(1e-12));
}

TEST_CASE("the share at most a limit includes the limit") {
  Distribution values;
  for (const double value : {1, 2, 2, 3}) values.add(value);
  CHECK(values.share_at_most(0.9) == 0);
  CHECK(values.share_at_most(1) == 0.25);
  CHECK(values.share_at_most(2) == 0.75);
  CHECK(values.share_at_most(2.5) == 0.75);
  CHECK(values.share_at_most(3) == 1);
}

TEST_CASE("the sum keeps what naive addition loses") {
  Distribution values;
  values.add(1);
  for (int i = 0; i < 1000; ++i) values.add(1e-16);  // 1 + 1e-16 is 1 in doubles
  CHECK(values.sum() == 1 + 1e-13);
}

TEST_CASE("800,000 values are exact, one more makes a sketch within half a percent") {
  Distribution values = ramp(kLimit);
  CHECK(values.exact());
  CHECK(values.quantile(0.99) == 0.99);
  values.add(0.5);
  CHECK_FALSE(values.exact());
  CHECK(values.count() == kLimit + 1);
  CHECK(values.minimum() == 1 / static_cast<double>(kLimit));
  CHECK(values.maximum() == 1);
  // Of 1/n to n/n and a half more: ((n + 1) / 2 + 1 / 2) / (n + 1).
  CHECK(values.mean() == approx(0.5 + 0.5 / static_cast<double>(kLimit + 1)).epsilon(1e-12));
  for (const double q : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999}) {
    CHECK(std::abs(values.quantile(q) / q - 1) <= Values::kSketchError + 1e-5);  // ranks moved by one
    CHECK(std::abs(values.share_at_most(q) / q - 1) <= 2 * Values::kSketchError);
  }
  CHECK(values.quantile(0) >= values.minimum());
  CHECK(values.quantile(1) <= values.maximum());
}

TEST_CASE("a sketch spans all magnitudes and counts zeros apart") {
  Distribution values;
  for (std::int64_t i = 0; i < kLimit; ++i) values.add(0);
  for (const double value : {1e300, 1e-300, 1.0}) values.add(value);
  CHECK(values.quantile(0.5) == 0);
  CHECK(values.share_at_most(0) == approx(1 - 3.0 / static_cast<double>(kLimit + 3)));
  const auto rank = [&values](std::int64_t k) {  // of the values above 0
    return values.quantile((static_cast<double>(kLimit + k) - 0.5) / static_cast<double>(values.count()));
  };
  CHECK(rank(1) == approx(1e-300).epsilon(Values::kSketchError));
  CHECK(rank(2) == approx(1).epsilon(Values::kSketchError));
  CHECK(rank(3) == approx(1e300).epsilon(Values::kSketchError));
}

TEST_CASE("merging equals adding everything to one distribution, exact or sketched") {
  for (const std::int64_t count : {std::int64_t{1000}, kLimit}) {
    CAPTURE(count);
    Distribution all, odd, even;
    RandomStream random(9);
    for (std::int64_t i = 0; i < 2 * count; ++i) {
      const double value = random.log_normal(0, 1);
      all.add(value);
      (i % 2 == 0 ? even : odd).add(value);
    }
    even.merge(odd);
    CHECK(even.exact() == all.exact());
    CHECK(even.count() == all.count());
    CHECK(even.sum() == approx(all.sum()).epsilon(1e-15));
    CHECK(even.standard_deviation() == approx(all.standard_deviation()).epsilon(1e-12));
    CHECK(even.minimum() == all.minimum());
    CHECK(even.maximum() == all.maximum());
    for (const double q : {0.0, 0.1, 0.5, 0.99, 1.0}) CHECK(even.quantile(q) == all.quantile(q));
  }
}

TEST_CASE("a distribution merges with itself and with an empty one") {
  Distribution values = ramp(10);
  values.merge(values);
  CHECK(values.count() == 20);
  CHECK(values.mean() == approx(0.55));
  values.merge(Distribution());
  CHECK(values.minimum() == 0.1);
  Distribution none;
  none.merge(values);
  CHECK(none.minimum() == 0.1);
  CHECK(none.quantile(0.5) == 0.5);
}

TEST_CASE("values below zero and values that are no numbers are refused") {
  Distribution values;
  CHECK_THROWS_AS(values.add(-1e-9), std::invalid_argument);
  CHECK_THROWS_AS(values.add(std::nan("")), std::invalid_argument);
  CHECK_THROWS_AS(values.add(std::numeric_limits<double>::infinity()), std::invalid_argument);
  CHECK_THROWS_AS(values.add(1, -1), std::invalid_argument);
  CHECK(values.count() == 0);
}

TEST_CASE("the confidence interval uses Student's t with n - 1 degrees of freedom") {
  CHECK_FALSE(confidence_half_width(std::array{1.0}));
  // Means 1 and 3: standard error of the mean 1, so the half-width is t itself; likewise below, sqrt(n - 1) times it.
  CHECK(*confidence_half_width(std::array{1.0, 3.0}) == approx(12.7062).epsilon(1e-5));
  const auto t = [](std::size_t n) {
    std::vector<double> means(n);
    for (std::size_t i = 0; i < n; ++i) means[i] = i % 2 == 0 ? -1 : 1;
    return *confidence_half_width(means) * std::sqrt(static_cast<double>(n - 1));
  };
  CHECK(t(4) == approx(3.18245).epsilon(2e-6));    // 3 degrees of freedom; all from published tables
  CHECK(t(10) == approx(2.26216).epsilon(2e-6));   // 9
  CHECK(t(20) == approx(2.09302).epsilon(2e-6));   // 19
  CHECK(t(32) == approx(2.03951).epsilon(2e-6));   // 31
  CHECK(t(122) == approx(1.97976).epsilon(2e-6));  // 121
}

TEST_CASE("Student's t with one degree of freedom is Cauchy's law, and with two has a closed quantile") {
  for (const double level : {0.025, 0.6, 0.9, 0.975, 0.9995}) {
    CAPTURE(level);
    CHECK(student_t_quantile(level, 1) == approx(std::tan(std::numbers::pi * (level - 0.5))).epsilon(1e-12));
    CHECK(student_t_quantile(level, 2) == approx((2 * level - 1) / std::sqrt(2 * level * (1 - level))).epsilon(1e-12));
  }
  CHECK(student_t_quantile(0.5, 7) == 0);
  CHECK_THROWS_AS(student_t_quantile(0.975, 0), std::domain_error);
}

TEST_CASE("a slope comes with its standard error") {
  const std::array x = {1.0, 2.0, 3.0, 4.0};
  const Slope exact = slope(x, std::array{5.0, 7.0, 9.0, 11.0});
  CHECK(exact.slope == 2);
  CHECK(exact.standard_error == 0);
  // Residuals -0.5, 0.5, 0.5, -0.5 about slope 0: sqrt(1 / 2 / 5).
  const Slope bent = slope(x, std::array{0.0, 1.0, 1.0, 0.0});
  CHECK(bent.slope == 0);
  CHECK(bent.standard_error == approx(std::sqrt(0.1)));
  CHECK(slope(std::array{1.0, 1.0}, std::array{0.0, 5.0}).slope == 0);  // no spread in x, no slope
}

TEST_CASE("quantiles are those of the sorted values, however these are spread") {
  RandomStream random = RandomStreams(7).stream("values");
  std::vector<double> levels;
  for (int i = 0; i <= 100; ++i) levels.push_back(i / 100.0);
  const auto value = [&](int kind) {
    switch (kind) {
      case 0: return std::floor(5 * random.uniform());          // many alike, and zeros
      case 1: return random.log_normal(1, 1);                   // within a few octaves
      case 2: return std::exp(200 * (random.uniform() - 0.5));  // over a hundred decades
      default: return 0.0;
    }
  };
  for (int kind = 0; kind < 4; ++kind)
    for (int round = 0; round < 50; ++round) {
      Distribution values;
      std::vector<double> sorted;
      for (int i = static_cast<int>(1 + 400 * random.uniform()); i > 0; --i) {
        const double one = value(kind);
        const std::int64_t weight = random.uniform() < 0.7 ? 1 : 1 + static_cast<std::int64_t>(5 * random.uniform());
        values.add(one, weight);
        sorted.insert(sorted.end(), static_cast<std::size_t>(weight), one);
      }
      std::ranges::sort(sorted);
      const std::vector<double> quantiles = values.quantiles(levels);
      for (std::size_t i = 0; i < levels.size(); ++i) {
        const auto size = static_cast<double>(sorted.size());
        const double rank = std::clamp(std::ceil(levels[i] * size * (1 - 1e-15)), 1.0, size);
        CAPTURE(levels[i]);
        REQUIRE(quantiles[i] == sorted[static_cast<std::size_t>(rank) - 1]);
      }
    }
}
