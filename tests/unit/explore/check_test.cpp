// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/check.hpp"

#include <doctest/doctest.h>

#include "tests/unit/explore/rows.hpp"

namespace check_test {

using namespace llmscape;
using namespace llmscape::explore;
using namespace llmscape::explore::test;

namespace {

ResultsTable one_run(const std::string& metric, Estimate estimate) {
  ResultsTable table;
  table.axes = {"rate"};
  table.rows = {row(0, {"8 /s"}, {{metric, 0}})};
  table.rows[0].metrics[place_of(metric)] = estimate;
  return table;
}

Baseline baseline_from(const ResultsTable& table, const Baseline& before = {}) {
  Diagnostics diagnostics;
  return baseline_of(table, before, diagnostics);
}

Check checked(const ResultsTable& table, const Baseline& baseline, const MetricColumns& only = {}) {
  Diagnostics diagnostics;
  auto found = check(table, baseline, only, diagnostics);
  REQUIRE_MESSAGE(found, diagnostics.text(false));
  return *found;
}

// How a metric stands that was `before` and is `now`, with a tolerance of 10 %.
MetricStanding standing(const std::string& metric, Estimate before, Estimate now) {
  Baseline start;
  start.tolerance = {0.1, true, "10%"};
  start.metrics = {metric};
  return checked(one_run(metric, now), baseline_from(one_run(metric, before), start))
      .configurations[0]
      .metrics[0]
      .standing;
}

Estimate exactly(double value) { return {value, value, value}; }

}  // namespace

TEST_CASE("within the tolerance is SAME, beyond it the direction of the metric decides") {
  CHECK(standing("ttft.p99", exactly(10), exactly(11)) == MetricStanding::same);
  CHECK(standing("ttft.p99", exactly(1), exactly(1.1)) == MetricStanding::same);  // 1.1 - 1 > 0.1 in doubles
  CHECK(standing("ttft.p99", exactly(10), exactly(11.01)) == MetricStanding::worse);
  CHECK(standing("ttft.p99", exactly(10), exactly(8.9)) == MetricStanding::better);
  CHECK(standing("goodput_rps", exactly(10), exactly(11.01)) == MetricStanding::better);
  CHECK(standing("goodput_rps", exactly(10), exactly(8.9)) == MetricStanding::worse);
}

TEST_CASE("runs with the same seeds are compared seed by seed, others by their intervals") {
  const auto repeats = [](const std::vector<double>& ttft, std::int64_t seed) {
    ResultsTable table;
    table.axes = {"rate"};
    for (const double one : ttft) {
      table.rows.push_back(row(table.rows.size(), {"8 /s"}, {{"ttft.p99", one}}));
      table.rows.back().repeat = static_cast<std::int64_t>(table.rows.size()) - 1;
      table.rows.back().seed = seed + table.rows.back().repeat;
    }
    return table;
  };
  Baseline start;
  start.tolerance = {0.1, true, "10%"};
  start.metrics = {"ttft.p99"};
  const Baseline before = baseline_from(repeats({10, 20, 30, 40, 50}, 7), start);
  const auto now = [&](const std::vector<double>& ttft, std::int64_t seed) {
    return checked(repeats(ttft, seed), before).configurations[0].metrics[0].standing;
  };
  const std::vector<double> slower = {12, 23.5, 35, 47, 58}, scattered = {50, 10, 45, 20, 55};
  CHECK(now(slower, 7) == MetricStanding::worse);  // by 2, 3.5, 5, 7 and 8: 5.1 +- 2.8 * 2.46 / sqrt(5) = 3.05
  CHECK(now(slower, 8) == MetricStanding::ambiguous);
  CHECK(now(scattered, 7) == MetricStanding::ambiguous);
  CHECK(now({10.1, 20.1, 30.1, 40.1, 50.1}, 7) == MetricStanding::same);
}

TEST_CASE("the interval of one run is the kernels' error, which both sides have in common: it excuses nothing") {
  CHECK(standing("ttft.p99", {10, 9, 11}, {12, 11, 13}) == MetricStanding::worse);
  CHECK(standing("ttft.p99", exactly(10), {12, 9, 15}) == MetricStanding::worse);
  CHECK(standing("ttft.p99", {10, 5, 20}, {8, 4, 16}) == MetricStanding::better);
  CHECK(standing("ttft.p99", {10, 9, 11}, {10.9, 10, 12}) == MetricStanding::same);
  const Baseline kept = baseline_from(one_run("ttft.p99", {10, 9, 11}));
  CHECK(kept.configurations[0].metrics.at("ttft_s.p99") == exactly(10));
}

TEST_CASE("a share of nothing is nothing: a metric that was 0 must stay so") {
  CHECK(standing("preemptions", exactly(0), exactly(0)) == MetricStanding::same);
  CHECK(standing("preemptions", exactly(0), exactly(1)) == MetricStanding::worse);
}

TEST_CASE("a metric without a better direction must not move") {
  CHECK(standing("steps", exactly(100), exactly(109)) == MetricStanding::same);
  CHECK(standing("steps", exactly(100), exactly(80)) == MetricStanding::worse);
  CHECK(standing("steps", exactly(100), exactly(120)) == MetricStanding::worse);
}

TEST_CASE("a metric that one side lacks is WORSE, one that both lack is not compared") {
  const Baseline before = baseline_from(one_run("ttft.p99", exactly(1)));
  const Check found = checked(one_run("itl.p99", exactly(1)), before);
  REQUIRE(found.metrics() == 2);
  CHECK(found.count(MetricStanding::worse) == 2);
  CHECK(found.configurations[0].metrics[0].reason == "the results lack it");
  CHECK(found.configurations[0].metrics[1].reason == "the baseline lacks it");
  CHECK(checked(one_run("itl.p99", exactly(1)), before, metrics::find_columns("itl.p99")).metrics() == 1);
}

TEST_CASE("a metric that is named and that neither side has is an error, and a warning to an update") {
  ResultsTable table = one_run("ttft.p99", exactly(1));
  table.axes = {"rate"};
  Baseline start;
  start.metrics = {"ttft", "goodput_rps"};
  Diagnostics made;
  const Baseline named = baseline_of(table, start, made);
  CHECK(made.errors() == 0);
  REQUIRE(made.sorted().size() == 1);
  CHECK(made.sorted()[0].message == "no result has 'goodput_rps': nothing can be held against it");
  Diagnostics refused;
  CHECK_FALSE(check(table, named, {}, refused));
  REQUIRE(refused.errors() == 1);
  CHECK(refused.sorted()[0].message == "neither the baseline nor the results have goodput_rps");
  // Named for this check alone; of "ttft" with all its statistics one is enough.
  MetricColumns only = metrics::find_columns("ttft");
  const Baseline open = baseline_from(table);
  CHECK(checked(table, open, only).metrics() == 1);
  only.push_back(metrics::find_column("goodput_rps"));
  CHECK_FALSE(check(table, open, only, refused));
  CHECK_FALSE(check(table, open, {metrics::find_column("ttft.p99"), metrics::find_column("ttft.p50")}, refused));
  CHECK(refused.errors() == 3);
}

TEST_CASE("configurations that cannot be compared fail as a whole") {
  ResultsTable table;
  table.axes = {"rate"};
  for (const char* rate : {"1 /s", "1 /s", "2 /s", "3 /s"})
    table.rows.push_back(row(table.rows.size(), {rate}, {{"ttft.p99", 1}}));
  const Baseline baseline = baseline_from(table);
  table.rows[1].values = {"4 /s"};  // one repeat of 1 /s is gone, and there is another configuration
  table.rows[2].verdict = "truncated";
  table.rows.pop_back();
  const Check found = checked(table, baseline);
  REQUIRE(found.configurations.size() == 4);
  CHECK(found.configurations[0].problem == "1 runs, where the baseline has 2");
  CHECK(found.configurations[1].problem == "the baseline lacks it; --update takes it in");
  CHECK(found.configurations[2].problem == "the result is truncated, not valid");
  CHECK(found.configurations[3].label == "rate=3 /s");
  CHECK(found.configurations[3].problem == "the results lack it");
  CHECK(found.metrics() == 0);
  CHECK_FALSE(found.passed());
}

TEST_CASE("configurations are known by the values of their axes, whatever their order") {
  ResultsTable table;
  table.axes = {"rate", "count"};
  table.rows = {row(0, {"8 /s", "1"}, {{"ttft.p99", 1}}), row(1, {"8 /s", "2"}, {{"ttft.p99", 2}})};
  const Baseline baseline = baseline_from(table);
  ResultsTable turned;
  turned.axes = {"count", "rate"};
  turned.rows = {row(5, {"2", "8 /s"}, {{"ttft.p99", 2}}), row(9, {"1", "8 /s"}, {{"ttft.p99", 1}})};
  const Check found = checked(turned, baseline);
  CHECK(found.passed());
  CHECK(found.count(MetricStanding::same) == 2);
}

TEST_CASE("results with other axes, and a check of nothing, are refused") {
  const Baseline baseline = baseline_from(one_run("ttft.p99", exactly(1)));
  ResultsTable other = one_run("ttft.p99", exactly(1));
  Diagnostics diagnostics;
  CHECK_FALSE(check(other, baseline, metrics::find_columns("hit_rate"), diagnostics));
  other.axes = {"count"};
  CHECK_FALSE(check(other, baseline, {}, diagnostics));
  CHECK(diagnostics.errors() == 2);
}

}  // namespace check_test
