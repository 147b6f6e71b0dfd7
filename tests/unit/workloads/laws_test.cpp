// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/workloads/support.hpp"
#include "workloads/durations.hpp"
#include "workloads/lengths.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::workloads {
namespace {

constexpr int kDraws = 100'000;  // the standard error of a mean is mean * cv / 316

std::vector<double> lengths_of(const std::string& text) {
  LengthDraws draws(*read(lengths(), text), RandomStream(7));
  std::vector<double> out;
  for (int i = 0; i < kDraws; ++i) out.push_back(static_cast<double>(draws.next()));
  return out;
}

std::vector<double> times_of(const std::string& text) {
  DurationDraws draws(*read(durations(), text), RandomStream(7));
  std::vector<double> out;
  for (int i = 0; i < kDraws; ++i) out.push_back(draws.next().si());
  return out;
}

double share_of(const std::vector<double>& values, double value) {
  return static_cast<double>(std::count(values.begin(), values.end(), value)) / kDraws;
}

// Four standard errors of a share p, or of a mean relative to itself.
double four_errors(double p) { return 4 * std::sqrt(p * (1 - p) / kDraws); }
double four_errors_of_mean(double cv) { return 4 * cv / std::sqrt(kDraws); }

}  // namespace

TEST_CASE("log-normal and gamma lengths have the mean and the cv that they are given") {
  for (const std::string kind : {"log_normal", "gamma"}) {
    CAPTURE(kind);
    const Moments m = moments_of(lengths_of("{kind: " + kind + ", mean: 1000, cv: 0.8}"));
    CHECK(std::abs(m.mean / 1000 - 1) < four_errors_of_mean(0.8));
    CHECK(std::abs(m.cv / 0.8 - 1) < 0.02);  // log-normal: kurtosis 18, so one error of the cv is 0.7 %
  }
}

TEST_CASE("a uniform length takes both ends and the middle equally often") {
  const auto drawn = lengths_of("{kind: uniform, min: 3, max: 5}");
  for (const double value : {3.0, 4.0, 5.0}) CHECK(std::abs(share_of(drawn, value) - 1.0 / 3) < four_errors(1.0 / 3));
}

TEST_CASE("a geometric length stops after one with probability 1 / mean") {
  const auto drawn = lengths_of("{kind: geometric, mean: 4}");
  CHECK(std::abs(share_of(drawn, 1) - 0.25) < four_errors(0.25));
  CHECK(std::abs(share_of(drawn, 2) - 0.25 * 0.75) < four_errors(0.1875));
  CHECK(lengths_of("{kind: geometric, mean: 1}") == std::vector<double>(kDraws, 1));
}

TEST_CASE("a zipf length falls as 1 / rank") {
  const auto drawn = lengths_of("{kind: zipf, min: 5, max: 8, exponent: 1}");
  CHECK(std::abs(share_of(drawn, 5) - 0.48) < four_errors(0.48));  // 1 / (1 + 1/2 + 1/3 + 1/4)
  CHECK(std::abs(share_of(drawn, 8) - 0.12) < four_errors(0.12));
}

TEST_CASE("empirical lengths follow their weights") {
  const auto drawn = lengths_of("{kind: empirical, values: [10, 20], weights: [1, 3]}");
  CHECK(std::abs(share_of(drawn, 10) - 0.25) < four_errors(0.25));
  CHECK(share_of(drawn, 10) + share_of(drawn, 20) == 1);
}

TEST_CASE("lengths by quantiles are linear between the quantiles") {
  const auto drawn = lengths_of("{kind: quantiles, shares: [0, 0.5, 1], values: [100, 200, 1200]}");
  const auto below = [&drawn](double limit) {
    return static_cast<double>(std::count_if(drawn.begin(), drawn.end(), [=](double v) { return v < limit; })) / kDraws;
  };
  CHECK(std::abs(below(150) - 0.25) < four_errors(0.25) + 0.005);  // half a token of rounding is 0.0025
  CHECK(std::abs(below(700) - 0.75) < four_errors(0.25) + 0.005);
  CHECK(std::abs(moments_of(drawn).mean / 425 - 1) < four_errors_of_mean(0.8));  // (150 + 700) / 2
}

TEST_CASE("lengths outside the limits count as the limits") {
  const auto drawn = lengths_of("{kind: log_normal, mean: 100, cv: 2, min: 50, max: 200}");
  CHECK(*std::min_element(drawn.begin(), drawn.end()) == 50);
  CHECK(*std::max_element(drawn.begin(), drawn.end()) == 200);
}

TEST_CASE("a truncated log-normal length keeps its shape between its ends, and piles up at neither") {
  // arXiv 2604.15039: mean about 27K, median 19.2K, 90th percentile 62.4K.
  auto drawn = lengths_of("{kind: truncated_log_normal, log_mean: 9.90, log_sd: 1.00, min: 128, max: 131072}");
  CHECK(std::abs(moments_of(drawn).mean / 27'500 - 1) < 0.01);
  std::sort(drawn.begin(), drawn.end());
  CHECK(std::abs(drawn[kDraws / 2] / 19'200 - 1) < 0.015);  // 1 % of a quantile is its error, and of the figures
  CHECK(std::abs(drawn[kDraws / 10 * 9] / 62'400 - 1) < 0.02);
  CHECK(drawn.front() >= 128);
  CHECK(share_of(drawn, 131'072) < 0.001);  // clamped, 2.9 % would lie there
}

TEST_CASE("times have the mean that they are given") {
  for (const std::string law : {"{kind: fixed, value: 2 s}", "{kind: uniform, min: 1 s, max: 3 s}",
                                "{kind: exponential, mean: 2 s}", "{kind: log_normal, mean: 2 s, cv: 1}",
                                "{kind: gamma, mean: 2 s, cv: 1}", "{kind: pareto, mean: 2 s, shape: 3}"}) {
    CAPTURE(law);
    CHECK(std::abs(moments_of(times_of(law)).mean / 2 - 1) < four_errors_of_mean(1));
  }
}

TEST_CASE("a pareto time exceeds twice its minimum with probability 2^-shape") {
  // The minimum is mean * (shape - 1) / shape = 2 s.
  const auto drawn = times_of("{kind: pareto, mean: 3 s, shape: 3}");
  const auto long_ones = std::count_if(drawn.begin(), drawn.end(), [](double t) { return t > 4; });
  CHECK(*std::min_element(drawn.begin(), drawn.end()) >= 2);
  CHECK(std::abs(static_cast<double>(long_ones) / kDraws - 0.125) < four_errors(0.125));
}

TEST_CASE("times above the limit count as the limit") {
  const auto drawn = times_of("{kind: exponential, mean: 2 s, max: 3 s}");
  CHECK(*std::max_element(drawn.begin(), drawn.end()) == 3);
}

TEST_CASE("laws refuse what has no meaning") {
  for (const std::string law :
       {"{kind: uniform, min: 5, max: 3}", "{kind: empirical, values: []}",
        "{kind: empirical, values: [1], weights: [0]}", "{kind: empirical, values: [1, 2], weights: [1]}",
        "{kind: quantiles, shares: [0, 1], values: [5]}", "{kind: quantiles, shares: [0.1, 1], values: [1, 2]}",
        "{kind: quantiles, shares: [0, 1], values: [2, 1]}",
        "{kind: truncated_log_normal, log_mean: 1, log_sd: 1, min: 1000, max: 2000}",
        "{kind: log_normal, mean: 0, cv: 1}", "{kind: geometric, mean: 0.5}",
        "{kind: zipf, min: 1, max: 100_000_000, exponent: 1}"}) {
    CAPTURE(law);
    Diagnostics diagnostics;
    CHECK_FALSE(lengths().read(yaml(law), diagnostics));
    CHECK(diagnostics.errors() == 1);
  }
}

}  // namespace llmscape::workloads
