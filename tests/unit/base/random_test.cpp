// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <vector>

using namespace llmscape;

namespace {

constexpr int kDraws = 200'000;

struct Moments {
  double mean, variance, kurtosis;  // kurtosis: fourth central moment over variance squared, 3 for the normal
};

// Mean and variance of many draws lie within four standard errors of the distribution's own.
template <class Draw>
void check_moments(const Moments& expected, Draw draw) {
  RandomStream random(11);
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double off = draw(random) - expected.mean;
    sum += off;
    squares += off * off;
  }
  CHECK(std::abs(sum / kDraws) < 4 * std::sqrt(expected.variance / kDraws));
  const double variance_error = expected.variance * std::sqrt((expected.kurtosis - 1) / kDraws);
  CHECK(std::abs(squares / kDraws - expected.variance) < 4 * variance_error);
}

std::vector<std::uint64_t> first_draws(RandomStream random) {
  std::vector<std::uint64_t> draws(8);
  for (auto& draw : draws) draw = random.bits();
  return draws;
}

}  // namespace

// The known answers of the authors' own library (Random123, kat_vectors, philox4x32 with 10 rounds).
TEST_CASE("Philox gives the published known answers") {
  using Block = std::array<std::uint32_t, 4>;
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t kOnes = 0xffffffff;
  CHECK(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
        Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("each block of a stream gives two draws, low words first") {
  RandomStream random(0);
  CHECK(random.bits() == 0xe169c58d6627e8d5);
  CHECK(random.bits() == 0x9b00dbd8bc57ac4c);
}

TEST_CASE("uniform numbers stay inside (0, 1) and fill it evenly") {
  check_moments({0.5, 1.0 / 12, 1.8}, [](RandomStream& random) {
    const double u = random.uniform();
    REQUIRE(u > 0);
    REQUIRE(u < 1);
    return u;
  });
}

TEST_CASE("the distributions have the mean and variance of their formulas") {
  SUBCASE("exponential") {
    check_moments({3, 9, 9}, [](RandomStream& random) { return random.exponential(3); });
  }
  SUBCASE("normal") {
    check_moments({0, 1, 3}, [](RandomStream& random) { return random.normal(); });
  }
  SUBCASE("gamma, shape k and scale s: mean k s, variance k s^2, kurtosis 3 + 6 / k") {
    check_moments({5, 10, 3 + 6 / 2.5}, [](RandomStream& random) { return random.gamma(2.5, 2); });
    check_moments({1, 2, 3 + 6 / 0.5}, [](RandomStream& random) { return random.gamma(0.5, 2); });
  }
  SUBCASE("Weibull of shape 2 is Rayleigh") {
    const double pi = std::numbers::pi;
    const Moments rayleigh{std::sqrt(pi), 4 - pi, 3 - (6 * pi * pi - 24 * pi + 16) / ((4 - pi) * (4 - pi))};
    check_moments(rayleigh, [](RandomStream& random) { return random.weibull(2, 2); });
  }
  SUBCASE("log-normal") {
    const double w = std::exp(0.25);  // e^(log_sd^2)
    const Moments expected{std::exp(1) * std::sqrt(w), (w - 1) * std::exp(2) * w,
                           w * w * w * w + 2 * w * w * w + 3 * w * w - 3};
    check_moments(expected, [](RandomStream& random) { return random.log_normal(1, 0.5); });
  }
  SUBCASE("Pareto, shape a and minimum m: mean m a / (a - 1), variance m^2 a / (a - 1)^2 / (a - 2)") {
    const double kurtosis = 3 + 6.0 * (1000 + 100 - 60 - 2) / (10.0 * 7 * 6);
    check_moments({20.0 / 9, 40.0 / 81 / 8, kurtosis}, [](RandomStream& random) { return random.pareto(2, 10); });
  }
  SUBCASE("chance p: mean p, variance p (1 - p)") {
    check_moments({0.3, 0.21, (1 - 3 * 0.21) / 0.21},
                  [](RandomStream& random) { return random.chance(0.3) ? 1.0 : 0.0; });
  }
}

TEST_CASE("numbers below n are unbiased even where 2^64 is far from a multiple of n") {
  const std::uint64_t third = std::uint64_t{1} << 62;
  // Three quarters of 2^64 are below n: taking the remainder alone would put half of all draws into the first third.
  check_moments({1.0 / 3, 2.0 / 9, 1.5},
                [third](RandomStream& random) { return random.below(3 * third) < third ? 1.0 : 0.0; });
  RandomStream random(1);
  CHECK(random.below(1) == 0);
}

TEST_CASE("integers include both ends, up to the whole range") {
  RandomStream random(5);
  std::array<int, 3> seen{};
  for (int i = 0; i < 3000; ++i) ++seen.at(static_cast<std::size_t>(random.integer(-1, 1) + 1));
  for (const int count : seen) CHECK(std::abs(count - 1000) < 4 * std::sqrt(3000 * 2.0 / 9));
  using Limits = std::numeric_limits<std::int64_t>;
  bool negative = false, positive = false;
  for (int i = 0; i < 100; ++i) (random.integer(Limits::min(), Limits::max()) < 0 ? negative : positive) = true;
  CHECK(negative);
  CHECK(positive);
  CHECK(random.integer(Limits::max(), Limits::max()) == Limits::max());
}

TEST_CASE("Zipf ranks have probabilities proportional to 1 / rank^s") {
  const Zipf zipf(3, 1);  // weights 1, 1/2, 1/3: the first has 6/11
  const double p = 6.0 / 11, variance = p * (1 - p);
  check_moments({p, variance, (1 - 3 * variance) / variance},
                [&zipf](RandomStream& random) { return zipf.draw(random) == 0 ? 1.0 : 0.0; });
  RandomStream random(1);
  CHECK(Zipf(1, 2).draw(random) == 0);
  CHECK_THROWS_AS(Zipf(0, 1), std::invalid_argument);
}

TEST_CASE("observed values are drawn by their weights, and never one of weight 0") {
  const Empirical lengths({10, 20, 30}, {1, 3, 0});
  CHECK(lengths.mean() == 17.5);
  check_moments({17.5, 18.75, 1 / 0.75 + 1 / 0.25 - 3},
                [&lengths](RandomStream& random) { return lengths.draw(random); });
  CHECK(Empirical({1, 2, 6}).mean() == 3);
  CHECK_THROWS_AS(Empirical({}), std::invalid_argument);
  CHECK_THROWS_AS(Empirical({1}, {-1}), std::invalid_argument);
  CHECK_THROWS_AS(Empirical({1, 2}, {1}), std::invalid_argument);
}

TEST_CASE("a stream depends on its name alone: a new consumer disturbs no other") {
  const RandomStreams streams(42);
  const auto alone = first_draws(streams.stream("arrivals"));
  RandomStream other = streams.stream("lengths");
  for (int i = 0; i < 1000; ++i) other.bits();
  CHECK(first_draws(streams.stream("arrivals")) == alone);
}

TEST_CASE("streams of different seeds, names, indices and levels differ and are not correlated") {
  const RandomStreams streams(42);
  const RandomStream base = streams.stream("lengths", 0);
  for (RandomStream other :
       {RandomStreams(43).stream("lengths"), streams.stream("length"), streams.stream("lengths", 1),
        streams.child("lengths").stream("lengths"), streams.child("workload", 1).stream("lengths")}) {
    RandomStream one = base;
    double products = 0;
    for (int i = 0; i < kDraws; ++i) products += (one.uniform() - 0.5) * (other.uniform() - 0.5);
    CHECK(std::abs(products * 12 / kDraws) < 4 / std::sqrt(kDraws));
  }
}

TEST_CASE("the same seed gives the same numbers in every version") {
  RandomStream random = RandomStreams(1).child("workload", 2).stream("lengths");
  CHECK(random.bits() == 4979636632203711464u);
}
