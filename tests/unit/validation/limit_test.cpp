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
  CHECK(untold.reason == "its mean alone was told");
  Report report;
  report.comparisons = comparisons;
  report.verdicts = {untold};
  const std::string text = to_text(report);
  CHECK_MESSAGE(text.find("+50.0 %") == text.rfind("+50.0 %"), text);  // under its mean alone
  CHECK_MESSAGE(text.find("not compared: its mean alone was told") != std::string::npos, text);
}

TEST_CASE("an error of the limit's very size meets it, whatever its last bit") {
  // 1.1 / 1 - 1 is 0.10000000000000009 in doubles.
  CHECK(judge(limit_of("tpot.mean=10%"), {compare("tpot", "s", {{"a", 1.1, 1}})}, {}).met());
  CHECK_FALSE(judge(limit_of("tpot.mean=10%"), {compare("tpot", "s", {{"a", 1.1000001, 1}})}, {}).met());
  CHECK(judge(limit_of("tpot.mean=0%"), {compare("tpot", "s", {{"a", 1, 1}})}, {}).met());
}

TEST_CASE("of several measured files the worst counts, and one that was not compared before any") {
  std::vector<Comparison> comparisons = {compare("tpot", "s", {{"a", 1.5, 1}}), compare("tpot", "s", {{"a", 1.1, 1}})};
  comparisons[0].of = "first";
  comparisons[1].of = "last";
  std::vector<Course> courses = {{"running", 1, 4.0}, {"running", 1, 2.0}};
  courses[0].of = "first";
  courses[1].of = "last";
  const Verdict worst = judge(limit_of("tpot.mean=20%"), comparisons, courses);
  CHECK(worst.error.value() == approx(0.5));
  CHECK(worst.of == "first");
  CHECK_FALSE(worst.met());
  CHECK(judge(limit_of("running.rmse=3"), comparisons, courses).error.value() == 4.0);
  Report report;
  report.comparisons = comparisons;
  report.courses = courses;
  CHECK_FALSE(hold_to({limit_of("tpot.mean=20%")}, report));
  CHECK(to_text(report).find("tpot (first)") != std::string::npos);
  CHECK(to_junit(report, "validate").find("\"50.00 % (first)\"") != std::string::npos);
  CHECK(to_json(report).find("\"of\": \"last\"") != std::string::npos);

  comparisons[1] = compare("tpot", "s", {{"a", 1.1, 0}});
  comparisons[1].of = "last";
  const Verdict none = judge(limit_of("tpot.mean=99%"), comparisons, {});
  CHECK_FALSE(none.error);
  CHECK(none.of == "last");
  CHECK(none.reason == "measured as 0");
}

TEST_CASE("a prediction that served a part of its requests, or is not valid, meets no limit; a noisy one does") {
  const auto met = [](const PredictedRun& run, bool any = false) {
    Report report;
    report.comparisons = {compare("tpot", "s", {{"a", 1, 1}})};
    report.run = run;
    const bool all = hold_to({limit_of("tpot.mean=1%")}, report, any);
    CHECK(all == (to_junit(report, "check").find("<failure") == std::string::npos));
    return all;
  };
  CHECK(met({"valid", {}, 300, 300}));
  CHECK(met({"noisy", {"3 completed requests are too few"}, 3, 3}));
  for (const char* verdict : {"unsteady", "saturated", "truncated"}) CHECK_FALSE(met({verdict, {"so"}, 300, 300}));
  CHECK_FALSE(met({"valid", {}, 300, 147}));
  CHECK(met({"saturated", {"so"}, 300, 147}, true));
  // 3 of 303 are 0.99 %, 4 of 304 are 1.3 %; one alone is no share.
  CHECK(met({"valid", {}, 5, 5, 1}));
  CHECK(met({"valid", {}, 300, 300, 3}));
  CHECK_FALSE(met({"valid", {}, 300, 300, 4}));
  CHECK(met({"valid", {}, 300, 300, 4}, true));
  CHECK(PredictedRun{"saturated", {}, 300, 147}.unfit() == "153 of 300 requests were not served by the simulation");
  CHECK(PredictedRun{"saturated", {}, 300, 300}.unfit() == "the prediction is saturated");
}
