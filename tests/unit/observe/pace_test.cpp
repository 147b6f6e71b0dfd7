// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/pace.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

using llmscape::testing::approx;

namespace llmscape::observe {
namespace {

std::vector<validation::Comparison> run(double predicted_tpot, double tpot, double predicted_watts, double watts) {
  return {validation::compare("tpot", "s", {{"all", predicted_tpot, tpot}}),
          validation::compare("mean_w", "W", {{"all", predicted_watts, watts}})};
}

}  // namespace

TEST_CASE("a host limits where tokens take longer and devices draw less") {
  const auto found = bound_by_host(run(0.009, 0.012, 1800, 1500));
  REQUIRE(found);
  CHECK(found->rested() == approx(0.25));
  CHECK(in_words(*found).find("a token took 12.0 ms where the devices need 9.0") != std::string::npos);
  CHECK(in_words(*found).find("rested in some 25 % of the time") != std::string::npos);
}

TEST_CASE("slow devices, errors of predictions and runs without power are no such host") {
  CHECK_FALSE(bound_by_host(run(0.009, 0.012, 1500, 1800)));
  CHECK_FALSE(bound_by_host(run(0.010, 0.012, 1800, 1500)));
  auto alone = run(0.009, 0.012, 1800, 1500);
  alone.pop_back();
  CHECK_FALSE(bound_by_host(alone));
}

}  // namespace llmscape::observe
