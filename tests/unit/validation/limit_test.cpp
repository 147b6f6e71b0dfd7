// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/limit.hpp"
#include "sim/validation/report.hpp"
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
  CHECK(problem_of("running.rmse=3%").find("a number in the metric's own unit, as 5 (requests, W)") !=
        std::string::npos);
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

TEST_CASE("of figures that stand alone a quantile is a row of its own, and what was not told is not compared") {
  const std::vector<Comparison> comparisons = {compare_figure("ttft", "s", 1.1, 1),
                                               compare_figure("ttft.p99", "s", 3, 2)};
  CHECK(comparisons[0].statistics.size() == 1);
  CHECK(judge(limit_of("ttft.mean=11%"), comparisons, {}).error.value() == approx(0.1));
  CHECK(judge(limit_of("ttft.p99=38%"), comparisons, {}).error.value() == approx(0.5));  // not the 10 % of the mean
  CHECK_FALSE(judge(limit_of("ttft.p99=38%"), comparisons, {}).met());
  CHECK(judge(limit_of("ttft.p99.mean=51%"), comparisons, {}).met());
  const Verdict untold = judge(limit_of("ttft.p90=38%"), comparisons, {});
  CHECK_FALSE(untold.error);
  CHECK(untold.of_one_figure);
  Report report;
  report.comparisons = comparisons;
  report.verdicts = {untold};
  const std::string text = to_text(report);
  CHECK_MESSAGE(text.find("+50.0 %") == text.rfind("+50.0 %"), text);  // under its mean alone
  CHECK_MESSAGE(text.find("not compared: its mean alone was told") != std::string::npos, text);
}
