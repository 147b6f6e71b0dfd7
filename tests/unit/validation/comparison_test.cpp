// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/comparison.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace llmscape::validation;
using llmscape::testing::approx;

TEST_CASE("sets are compared by their statistics, pairs by their relative errors") {
  // Errors: +10 %, -20 %, 0 %, +50 %.
  const Comparison c = compare("ttft", "s", {{"a", 1.1, 1}, {"b", 1.6, 2}, {"c", 4, 4}, {"d", 12, 8}});
  CHECK(c.count == 4);
  REQUIRE(c.statistics.size() == 4);
  CHECK(c.statistics[0].predicted == approx(4.675));  // 18.7 / 4
  CHECK(c.statistics[0].measured == approx(3.75));
  CHECK(*c.error("mean") == approx(4.675 / 3.75 - 1));
  CHECK(*c.error("p50") == approx(0.2));   // second smallest: 1.6 of (1.1, 1.6, 4, 12) against 2 of (1, 2, 4, 8)
  CHECK(*c.error_mean == approx(0.2));     // (0.1 + 0.2 + 0 + 0.5) / 4
  CHECK(*c.error_median == approx(0.15));  // between 0.1 and 0.2
  CHECK(*c.error_p90 == approx(0.5));
  CHECK(*c.bias == approx(0.05));  // between 0 and 0.1
  CHECK(*c.rank == approx(1));
  CHECK(c.worst.front().name == "d");
  CHECK(c.worst.back().name == "c");
}

TEST_CASE("a shuffled prediction has the same statistics and no rank correlation to speak of") {
  const Comparison c = compare("tpot", "s", {{"a", 3, 1}, {"b", 2, 2}, {"c", 1, 3}});
  CHECK(*c.error("mean") == 0);
  CHECK(*c.error("p99") == 0);
  CHECK(*c.rank == approx(-1));
  CHECK(*c.error("rank") == approx(2));
}

TEST_CASE("equal values share their rank") {
  // Ranks (1.5, 1.5, 3) and (1, 2, 3): covariance 1.5, variances 1.5 and 2.
  const Comparison c = compare("e2e", "s", {{"a", 5, 1}, {"b", 5, 2}, {"c", 6, 3}});
  CHECK(*c.rank == approx(1.5 / std::sqrt(1.5 * 2)));
}

TEST_CASE("what was measured as 0 has no relative error, but counts among the sets") {
  const Comparison c = compare("queueing", "s", {{"a", 1, 0}, {"b", 2, 4}});
  CHECK(*c.error_mean == approx(0.5));
  CHECK(*c.error("mean") == approx(0.25));  // 1.5 against 2
  CHECK(c.worst.size() == 1);
  CHECK(c.count == 1);  // of pairs with an error
  // Ranks (1, 2, 3) and (1, 3, 2) of the pairs with an error: covariance 1, variances 2. With the fourth, 0.8.
  CHECK(*compare("queueing", "s", {{"a", 1, 0}, {"b", 2, 4}, {"c", 3, 6}, {"d", 4, 5}}).rank == approx(0.5));
}

TEST_CASE("nothing compared has no error at all") {
  const Comparison c = compare("ttft", "s", {});
  for (const std::string& figure : Comparison::figures()) CHECK_FALSE(c.error(figure));
}

TEST_CASE("a single pair has an error and no rank") {
  const Comparison c = compare("makespan", "s", {{"run", 9, 10}});
  CHECK(*c.error("mean") == approx(0.1));
  CHECK_FALSE(c.rank);
}

TEST_CASE("0 predicted where 0 was measured is no error, and another number has none that is defined") {
  const Comparison equal = compare("preemptions", "", {{"a", 0, 0}, {"b", 0, 0}});
  CHECK(*equal.error("mean") == 0);
  CHECK(*equal.error("error_mean") == 0);
  CHECK(equal.count == 0);  // such pairs are left out
  const Comparison other = compare("preemptions", "", {{"a", 2, 0}, {"b", 0, 0}});
  CHECK_FALSE(other.error("mean"));
  CHECK_FALSE(other.error("error_mean"));
  CHECK(*compare_figure("preemptions", "", 0, 0).error("mean") == 0);
}
