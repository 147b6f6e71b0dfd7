// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/limit.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

using namespace llmscape::validation;
using llmscape::testing::approx;

namespace {

Limit limit_of(const std::string& text) {
  std::string problem;
  const auto limit = parse_limit(text, problem);
  REQUIRE_MESSAGE(limit, problem);
  return *limit;
}

std::string problem_of(const std::string& text) {
  std::string problem;
  CHECK_FALSE(parse_limit(text, problem));
  return problem;
}

}  // namespace

TEST_CASE("a limit names a metric, a figure and a share") {
  const Limit limit = limit_of("decode step.error_median=2.5%");
  CHECK(limit.metric == "decode step");
  CHECK(limit.figure == "error_median");
  CHECK(limit.largest == approx(0.025));
}

TEST_CASE("limits that cannot be meant are refused with the reason") {
  CHECK(problem_of("tpot=3%").find("METRIC.FIGURE=VALUE") != std::string::npos);
  CHECK(problem_of("tpot.mean").find("METRIC.FIGURE=VALUE") != std::string::npos);
  CHECK(problem_of("tpot.maen=3%").find("did you mean 'mean'") != std::string::npos);
  CHECK(problem_of("tpot.mean=3").find("a percentage") != std::string::npos);
  CHECK(problem_of("running.rmse=3%").find("a number of requests") != std::string::npos);
  CHECK(problem_of("tpot.mean=-3%").find("a percentage") != std::string::npos);
}

TEST_CASE("a limit is met up to its value, and not by what was not compared") {
  const std::vector<Comparison> comparisons = {compare("tpot", "s", {{"a", 1.5, 1}})};
  const std::vector<Course> courses = {{"running", 1, 4.0}};
  CHECK(judge(limit_of("tpot.mean=50%"), comparisons, courses).met());
  CHECK_FALSE(judge(limit_of("tpot.mean=49%"), comparisons, courses).met());
  CHECK_FALSE(judge(limit_of("ttft.mean=99%"), comparisons, courses).met());
  CHECK(judge(limit_of("running.rmse=4"), comparisons, courses).met());
  CHECK_FALSE(judge(limit_of("waiting.rmse=4"), comparisons, courses).met());
  CHECK_FALSE(judge(limit_of("running.rmse=4"), comparisons, {{"running", 0, 0}}).met());  // no moment was compared
}
