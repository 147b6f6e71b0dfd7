// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "sim/explore/baseline.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/explore/rows.hpp"

using namespace llmscape;
using namespace llmscape::explore;
using namespace llmscape::explore::test;
using llmscape::testing::approx;

namespace {

using Names = std::vector<std::string>;

// What is said of the names in an expression.
Names unknown_in(const std::string& text, const ResultsTable& table) {
  Diagnostics diagnostics;
  const auto expression = Expression::parse(text, {}, diagnostics);
  REQUIRE(expression);
  check_names(*expression, table, diagnostics);
  Names said;
  for (const Diagnostic& d : diagnostics.sorted()) said.push_back(d.message + " " + d.suggestion);
  return said;
}

}  // namespace

TEST_CASE("a short name is the shortest end that no other name has") {
  CHECK(short_names({"workload.arrivals.rate", "seed"}) == Names{"rate", "seed"});
  CHECK(short_names({"hardware.devices[edge].count", "hardware.devices[gpu].count"}) ==
        Names{"devices[edge].count", "devices[gpu].count"});
  CHECK(short_names({"hardware.devices[edge.1]", "a.b", "b"}) == Names{"devices[edge.1]", "a.b", "b"});
}

TEST_CASE("no axis is called as a metric is, since conditions would mean the metric") {
  const Names axes = {"cost.devices.h100-sxm.capital", "rate"};
  CHECK(short_names(axes) == Names{"h100-sxm.capital", "rate"});
  CHECK_FALSE(find_axis(axes, "capital"));
  ResultsTable table;
  table.axes = axes;
  table.rows.push_back(row(0, {"250", "8 /s"}, {{"capital", 1000.}}));
  const auto all = configurations(table);
  CHECK(all[0].label == "h100-sxm.capital=250 rate=8 /s");
  const auto lookup = lookup_in(table, all[0]);
  CHECK(lookup("capital") == Value(1000.));
  CHECK(lookup("h100-sxm.capital") == Value(250.));
}

TEST_CASE("repeats become one configuration: the mean with its 95 % interval, and the verdict of most of them") {
  ResultsTable table;
  table.axes = {"workload.rate", "edge.count"};
  for (const auto& [rate, ttft] : {std::pair("8 /s", 1.), {"16 /s", 5.}, {"8 /s", 2.}, {"8 /s", 6.}})
    table.rows.push_back(row(table.rows.size(), {rate, "4"}, {{"ttft.p99", ttft}}));
  table.rows[2].verdict = "unsteady";
  table.rows[3].verdict = "unsteady";
  table.rows[1].metrics[place_of("ttft.p99")]->high = 7;
  table.rows[0].metrics[place_of("steps")] = Estimate{1, 1, 1};
  const auto all = configurations(table);
  REQUIRE(all.size() == 2);
  CHECK(all[0].label == "rate=8 /s count=4");
  CHECK(all[0].rows == std::vector<std::size_t>{0, 2, 3});
  CHECK(all[0].verdict == "unsteady");
  // Of 1, 2 and 6: mean 3, deviations -2, -1 and 3, variance 14 / 2, t of 2 degrees of freedom 4.302653.
  const Estimate ttft = *all[0].metrics[place_of("ttft.p99")];
  CHECK(ttft.value == approx(3));
  CHECK(ttft.high - 3 == approx(4.302653 * std::sqrt(7. / 3)));
  CHECK(3 - ttft.low == approx(ttft.high - 3));
  CHECK_FALSE(all[0].metrics[place_of("steps")]);  // two of its runs lack it
  CHECK(all[1].verdict == "valid");
  CHECK(*all[1].metrics[place_of("ttft.p99")] == Estimate{5, 5, 7});
}

TEST_CASE("repeats keep the intervals of their runs: the means of their ends, wider by the scatter of the values") {
  ResultsTable table;
  table.axes = {"workload.rate"};
  table.rows = {row(0, {"8 /s"}, {}), row(1, {"8 /s"}, {})};
  table.rows[0].metrics[place_of("ttft.p99")] = Estimate{1, 0.7, 1.5};
  table.rows[1].metrics[place_of("ttft.p99")] = Estimate{3, 2.5, 3.7};
  const Configuration both = configurations(table)[0];
  // Of 1 and 3: variance 2, t of one degree of freedom 12.7062, half-width 12.7062 * sqrt(2 / 2).
  const Estimate ttft = *both.metrics[place_of("ttft.p99")];
  CHECK(ttft.value == approx(2));
  CHECK(ttft.low == approx(1.6 - 12.7062));
  CHECK(ttft.high == approx(2.6 + 12.7062));
  // A baseline has the kernel models in common with later results: it is held by the scatter alone.
  CHECK(over_repeats(table, both, place_of("ttft.p99"))->high == approx(2 + 12.7062));
  Diagnostics diagnostics;
  const Baseline held = baseline_of(table, {}, diagnostics);
  CHECK(held.configurations.at(0).metrics.at("ttft_s.p99").high == approx(2 + 12.7062));
}

TEST_CASE("repeats that are noisy alone are valid together where they are enough calls and scatter little") {
  const auto verdict = [](const std::vector<double>& ttft, double calls, const std::string& last = "noisy") {
    ResultsTable table;
    table.axes = {"workload.rate"};
    for (const double one : ttft)
      table.rows.push_back(row(table.rows.size(), {"8 /s"}, {{"ttft.p99", one}, {"completed", calls}}));
    for (ResultRow& each : table.rows) each.verdict = "noisy";
    table.rows.back().verdict = last;
    return configurations(table)[0].verdict;
  };
  CHECK(verdict({1, 1.1, 0.9}, 70) == "valid");  // half-width 4.3 * 0.1 / sqrt(3) = 25 % of the mean
  CHECK(verdict({1, 1.1, 0.9}, 70, "valid") == "valid");
  CHECK(verdict({1, 1.1, 0.9}, 60) == "noisy");    // 180 calls
  CHECK(verdict({1, 1.15, 0.85}, 70) == "noisy");  // 37 %
  CHECK(verdict({1}, 1000) == "noisy");
  CHECK(verdict({1, 1.1, 0.9}, 70, "truncated") == "truncated");
}

// One load, of which one seed of five drifts by chance: were one enough, 1 - 0.8^20 = 99 % of loads with 20 seeds would
// be unsteady, and 67 % of those with five.
TEST_CASE("a load drifts where half of its seeds or more do, so that more seeds of one load do not make it unsteady") {
  const auto verdict = [](const std::vector<std::string>& verdicts, const std::vector<double>& ttft) {
    ResultsTable table;
    table.axes = {"workload.rate"};
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      table.rows.push_back(row(i, {"8 /s"}, {{"ttft.p99", ttft[i % ttft.size()]}, {"completed", 400}}));
      table.rows.back().verdict = verdicts[i];
    }
    return configurations(table)[0].verdict;
  };
  const std::vector<double> alike = {1, 1.1, 0.9};
  CHECK(verdict({"unsteady"}, alike) == "unsteady");
  CHECK(verdict({"valid", "unsteady"}, alike) == "unsteady");
  for (const char* drifting : {"unsteady", "saturated"}) {
    CHECK(verdict({drifting, "valid", "valid"}, alike) == "valid");  // half-width 25 % of the mean
    CHECK(verdict({"valid", "noisy", drifting, "valid"}, alike) == "valid");
    CHECK(verdict({"valid", drifting, drifting, "valid"}, alike) == drifting);
  }
  std::vector<std::string> many(20, "valid");
  for (const std::size_t place : {1, 4, 8, 11, 17}) many[place] = "unsteady";
  CHECK(verdict(many, alike) == "valid");
  // What the seeds do not tell is noise: half-width 4.3 * 1.15 / sqrt(3) of a mean of 1.67.
  CHECK(verdict({"valid", "unsteady", "valid"}, {1, 3, 1}) == "noisy");
}

TEST_CASE("a run that stands twice, as older samples have it, is one: no repeat, no narrower interval") {
  ResultsTable table;
  table.axes = {"workload.rate"};
  for (const auto& [seed, ttft] : {std::pair(1, 1.), {1, 1.}, {2, 3.}, {1, 1.}}) {
    table.rows.push_back(row(table.rows.size(), {"8 /s"}, {{"ttft.p99", ttft}, {"completed", 100}}));
    table.rows.back().seed = seed;
    table.rows.back().verdict = "noisy";
  }
  const auto all = configurations(table);
  REQUIRE(all.size() == 1);
  CHECK(all[0].rows == std::vector<std::size_t>{0, 2});
  CHECK(all[0].verdict == "noisy");  // 200 calls, and the half-width of 1 and 3 is 12.7 * 1
  CHECK(all[0].metrics[place_of("ttft.p99")]->value == approx(2));  // of all four: 1.5
  table.rows.erase(table.rows.begin() + 2);
  CHECK(configurations(table)[0].rows.size() == 1);
  CHECK(configurations(table)[0].verdict == "noisy");  // 300 calls without any scatter, were they three runs
  Diagnostics diagnostics;
  for (ResultRow& each : table.rows) each.verdict = "valid";
  CHECK(baseline_of(table, {}, diagnostics).configurations.at(0).runs == 1);
}

TEST_CASE("expressions know metrics, axes by any end that is unambiguous, and the verdict") {
  ResultsTable table;
  table.axes = {"workload.rate", "hardware.devices[edge].count", "hardware.devices[gpu].count", "model.preset"};
  table.rows = {row(0, {"8 /s", "4", "1", "l4"}, {{"ttft.p99", 0.2}})};
  const auto all = configurations(table);
  const auto holds = [&](const char* text) {
    Diagnostics diagnostics;
    const auto expression = Expression::parse(text, {}, diagnostics);
    return expression && expression->holds(lookup_in(table, all[0]));
  };
  CHECK(holds("ttft.p99 <= 200 ms and ttft_s.p99 > 199 ms"));
  CHECK(holds("rate == 8 /s and workload.rate * 2 == 16 /s"));
  CHECK(holds("devices[edge].count == 4 and devices[gpu].count == 1"));
  CHECK(holds("preset == l4 and verdict == valid"));
  CHECK_FALSE(holds("count == 4"));          // which?
  CHECK_FALSE(holds("tpot.p99 <= 1000 s"));  // the run has none
}

TEST_CASE("names that results do not have are reported with the nearest that they have") {
  ResultsTable table;
  table.axes = {"workload.rate"};
  CHECK(unknown_in("ttft.p99 < 1 s and rate > 1 and verdict == valid", table).empty());
  CHECK(unknown_in("preset == l4", table).size() == 1);
  CHECK(unknown_in("tfft.p99 < 1 s or workload.rat > 1", table) ==
        Names{"'tfft.p99' is neither a metric nor an axis of these results did you mean 'ttft.p99'?",
              "'workload.rat' is neither a metric nor an axis of these results did you mean 'workload.rate'?"});
}
