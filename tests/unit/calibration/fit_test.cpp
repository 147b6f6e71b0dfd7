// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/fit.hpp"
#include "base/random.hpp"
#include "hardware/calibration/errors.hpp"
#include "hardware/calibration/sampling.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

// y = a + b x at x = 1, 2, 4, ... with log-normal noise of `noise`; every `outlier`-th row three times too long.
FitProblem line(double a, double b, double noise, int rows, int outlier = 0) {
  FitProblem problem;
  problem.parameters = {{"a", 0.01, 100, 1, 1}, {"b", 0.01, 100, 1, 1}};
  std::vector<double> x;
  RandomStream draws(7);
  for (int i = 0; i < rows; ++i) {
    x.push_back(std::exp2(i % 10));
    const double factor = outlier > 0 && i % outlier == 0 ? 3 : 1;
    problem.measured.push_back((a + b * x.back()) * factor * std::exp(noise * draws.normal()));
  }
  problem.predict = [x](std::span<const double> p, std::span<double> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = p[0] + p[1] * x[i];
  };
  return problem;
}

TEST_CASE("exact rows give the parameters back exactly, far from the prior too") {
  FitProblem problem = line(20, 0.05, 0, 400);
  for (FreeParameter& p : problem.parameters) p.log_sd = 100;  // as good as no prior
  const FitOutcome fit = fit_in_log(problem);
  CHECK(fit.parameters[0].value == approx(20).epsilon(1e-4));
  CHECK(fit.parameters[1].value == approx(0.05).epsilon(1e-4));
  CHECK(fit.parameters[0].identified());
}

TEST_CASE("one row in seven that is three times too long moves the fit by less than 5 %") {
  const FitOutcome fit = fit_in_log(line(20, 2, 0.03, 400, 7));
  CHECK(fit.parameters[0].value == approx(20).epsilon(0.05));
  CHECK(fit.parameters[1].value == approx(2).epsilon(0.05));
}

TEST_CASE("the standard error of a lone scale is noise over the root of the rows") {
  FitProblem problem;
  problem.parameters = {{"scale", 0.1, 10, 1, 1}};
  RandomStream draws(3);
  for (int i = 0; i < 400; ++i) problem.measured.push_back(2 * std::exp(0.03 * draws.normal()));
  problem.predict = [](std::span<const double> p, std::span<double> y) { std::ranges::fill(y, p[0]); };
  const FitOutcome fit = fit_in_log(problem);
  CHECK(fit.parameters[0].value == approx(2).epsilon(0.01));
  CHECK(fit.parameters[0].standard_error == approx(0.03 / 20).epsilon(0.15));
}

TEST_CASE("standard errors are those of repeated fits, where many rows lie beyond the bend of the loss too") {
  for (const double noise : {0.05, 0.2}) {
    CAPTURE(noise);
    RandomStream draws(11);
    double squares = 0, claimed = 0;
    constexpr int kFits = 300;
    for (int i = 0; i < kFits; ++i) {
      FitProblem problem;
      problem.parameters = {{"scale", 0.1, 10, 2, 10}};
      for (int row = 0; row < 60; ++row) problem.measured.push_back(2 * std::exp(noise * draws.normal()));
      problem.predict = [](std::span<const double> p, std::span<double> y) { std::ranges::fill(y, p[0]); };
      const FitOutcome fit = fit_in_log(problem, 1);
      squares += std::pow(std::log(fit.parameters[0].value / 2), 2);
      claimed += fit.parameters[0].standard_error;
    }
    // Of 300 fits the scatter is known to 4 %.
    CHECK(claimed / kFits == approx(std::sqrt(squares / kFits)).epsilon(0.1));
  }
}

TEST_CASE("a parameter that no row sees stays at its prior and is not identified") {
  FitProblem problem = line(20, 2, 0.03, 100);
  problem.parameters.push_back({"unseen", 0.1, 100, 3, 0.5});
  const FitOutcome fit = fit_in_log(problem);
  CHECK(fit.parameters[2].value == approx(3).epsilon(1e-3));
  CHECK_FALSE(fit.parameters[2].identified());
  CHECK(fit.parameters[0].identified());
}

TEST_CASE("a parameter that the rows push out of its range ends at the bound, and says so") {
  FitProblem problem = line(20, 2, 0.01, 400);
  problem.parameters[1].high = 1;
  const FitOutcome fit = fit_in_log(problem);
  CHECK(fit.parameters[1].value <= 1);
  CHECK(fit.parameters[1].at_bound);
  CHECK_FALSE(fit.parameters[1].identified());
}

TEST_CASE("a fit gives the same bits every time") {
  const FitOutcome one = fit_in_log(line(20, 2, 0.03, 100)), two = fit_in_log(line(20, 2, 0.03, 100));
  for (std::size_t i = 0; i < 2; ++i) CHECK(one.parameters[i].value == two.parameters[i].value);
}

TEST_CASE("the half-width at 90 % of 160 held-out residuals is the 145th smallest size") {
  std::vector<double> residuals(160);
  std::iota(residuals.begin(), residuals.end(), 1.0);
  for (std::size_t i = 0; i < residuals.size(); i += 2) residuals[i] = -residuals[i];
  CHECK(conformal_half_width(residuals, 0.9) == 145);
  residuals.resize(9);
  CHECK(conformal_half_width(residuals, 0.9) == 9);
  residuals.resize(8);
  CHECK_FALSE(conformal_half_width(residuals, 0.9));
}

TEST_CASE("errors are summarised by size and by sign") {
  const std::vector<double> measured(4, 100), predicted = {90, 110, 120, 140};
  const ErrorSummary errors = summarise(predicted, measured);
  CHECK(errors.rows == 4);
  CHECK(errors.mean == approx(0.2));
  CHECK(errors.median == approx(0.1));
  CHECK(errors.p95 == approx(0.4));
  CHECK(errors.bias == approx(0.15));
}

TEST_CASE("folds never split a group, and are as even as groups allow") {
  std::vector<Group> groups;
  for (std::int64_t i = 0; i < 92; ++i) groups.push_back({i % 23, 7});  // 23 groups of 4 rows
  const std::vector<int> folds = grouped_folds(groups, 5, 1);
  std::vector<int> rows(5);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    CHECK(folds[i] == folds[i % 23]);
    ++rows[static_cast<std::size_t>(folds[i])];
  }
  for (const int n : rows) CHECK((n == 16 || n == 20));
  CHECK(folds != grouped_folds(groups, 5, 2));
}

TEST_CASE("a random subset holds distinct rows in their order") {
  const auto some = random_subset(1000, 100, 1);
  REQUIRE(some.size() == 100);
  for (std::size_t i = 1; i < some.size(); ++i) CHECK(some[i - 1] < some[i]);
  CHECK(some.back() < 1000);
  CHECK(some != random_subset(1000, 100, 2));
  CHECK(random_subset(3, 100, 1) == std::vector<std::size_t>{0, 1, 2});
}

}  // namespace
}  // namespace llmscape::hardware
