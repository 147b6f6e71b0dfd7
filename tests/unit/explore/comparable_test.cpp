// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/comparable.hpp"

#include <doctest/doctest.h>

#include "sim/explore/check.hpp"
#include "tests/unit/explore/rows.hpp"

namespace comparable_test {

using namespace llmscape;
using namespace llmscape::explore;
using namespace llmscape::explore::test;

namespace {

using Names = std::vector<std::string>;
using Metrics = std::vector<std::pair<std::string, double>>;

const metrics::Metric& metric(const std::string& name) { return *metrics::find_column(name)->metric; }

// Two memories that do the same work at the same rent of 3 USD an hour. The slow one fills later, so that its steady
// window is shorter: 57.3 s x 3 USD / 3600 s = 0.0478 USD, of the fast one 61.6 s = 0.0513 USD. Of the whole run, 73
// and 69.8 s, the slow one pays more: 0.0608 and 0.0582 USD.
ResultsTable two_memories(bool whole, double slow_window = 57.3, double slow_completed = 400) {
  ResultsTable table;
  table.axes = {"memory"};
  const double slow = whole ? 73 : slow_window, fast = whole ? 69.8 : 61.6;
  table.rows = {row(0, {"2 TB/s"},
                    {{"window_s", slow},
                     {"simulated_s", 73},
                     {"completed", slow_completed},
                     {"total_cost", slow * 3 / 3600},
                     {"peak_w", 700},
                     {"peak_window_s", 0.03125},
                     {"output_tokens_per_s", 1000},
                     {"ttft.p99", 0.2}}),
                row(1, {"4.8 TB/s"},
                    {{"window_s", fast},
                     {"simulated_s", 69.8},
                     {"completed", 400},
                     {"total_cost", fast * 3 / 3600},
                     {"peak_w", 660},
                     {"peak_window_s", 0.125},
                     {"output_tokens_per_s", 1000},
                     {"ttft.p99", 0.1}})};
  return table;
}

Names incomparable_in(const std::string& text, const ResultsTable& table, bool include_invalid = false) {
  Diagnostics diagnostics;
  const auto expression = Expression::parse(text, {}, diagnostics);
  REQUIRE_MESSAGE(expression, diagnostics.text(false));
  Names names;
  for (const metrics::Column* column : incomparable(*expression, table, include_invalid)) names.push_back(column->name);
  return names;
}

}  // namespace

TEST_CASE("sums are compared over windows of one length, or over whole runs of as many calls") {
  const Extent slow{57.3, 73, 400, {}}, fast{61.6, 69.8, 400, {}};
  for (const char* sum : {"total_cost", "total_joules", "co2_g"}) {
    CHECK_FALSE(comparable(metric(sum), slow, fast));
    CHECK(comparable(metric(sum), slow, {57.35, 69.8, 400, {}}));  // 0.09 %
    CHECK(comparable(metric(sum), {73, 73, 400, {}}, {69.8, 69.8, 400, {}}));
    CHECK_FALSE(comparable(metric(sum), {73, 73, 390, {}}, {69.8, 69.8, 400, {}}));
    CHECK(comparable(metric(sum), {}, fast));  // not known
    CHECK_FALSE(instead_of(metric(sum)).empty());
    CHECK(metrics::find_column(instead_of(metric(sum))));
  }
  CHECK(comparable(metric("cost_per_million_output_tokens"), slow, fast));
  CHECK(instead_of(metric("cost_per_million_output_tokens")).empty());
}

TEST_CASE("peaks of power are compared in slices of one length") {
  const Extent fine{{}, {}, {}, 0.03125}, coarse{{}, {}, {}, 1};
  CHECK_FALSE(comparable(metric("peak_w"), fine, coarse));
  CHECK(comparable(metric("peak_w"), fine, fine));
  CHECK(comparable(metric("mean_w"), fine, coarse));
  CHECK(instead_of(metric("peak_w")) == "mean_w");
}

TEST_CASE("an expression is incomparable by the sums in it that are no ratios, and by any peak") {
  const ResultsTable table = two_memories(false);
  const Names cost = {"total_cost"}, peak = {"peak_w"};
  for (const char* sum : {"total_cost", "2 * total_cost", "total_cost/1000", "total_cost < 5 and ttft.p99 < 1 s",
                          "ttft.p99 < 1 s and memory == 2 and (total_cost) <= 5"})
    CHECK_MESSAGE(incomparable_in(sum, table) == cost, sum);
  for (const char* ratio : {"total_cost/window_s", "completed / total_cost", "1e6 * (total_cost) / (completed)"})
    CHECK_MESSAGE(incomparable_in(ratio, table).empty(), ratio);
  CHECK(incomparable_in("output_tokens_per_s/(peak_w/1e6)", table) == peak);
  CHECK(incomparable_in("total_cost", two_memories(false, 61.6)).empty());
  CHECK(incomparable_in("total_cost", two_memories(true)).empty());
  CHECK(incomparable_in("total_cost", two_memories(true, 0, 390)) == cost);
  ResultsTable one_counts = table;
  one_counts.rows[0].verdict = "unsteady";
  CHECK(incomparable_in("total_cost", one_counts).empty());
  CHECK(incomparable_in("total_cost", one_counts, true) == cost);
}

TEST_CASE("what is refused is told with the ratio to use") {
  Diagnostics diagnostics;
  const auto expression = Expression::parse("total_cost", {}, diagnostics);
  check_comparable("--min", {}, *expression, two_memories(false), false, diagnostics);
  REQUIRE(diagnostics.errors() == 1);
  const Diagnostic told = diagnostics.sorted().front();
  CHECK(told.message.starts_with("--min compares total_cost, a sum over windows that differ in length"));
  CHECK(told.suggestion.find("cost_per_million_output_tokens") != std::string::npos);
}

TEST_CASE("a baseline holds no sum unless it is named, and knows what those that are were taken over") {
  const auto run = [](bool slow) {
    ResultsTable table = two_memories(false);
    table.rows.erase(table.rows.begin() + (slow ? 1 : 0));
    table.rows[0].values = {"m"};
    return table;
  };
  Diagnostics diagnostics;
  CHECK_FALSE(baseline_of(run(false), {}, diagnostics).configurations[0].metrics.contains("total_cost"));
  Baseline named;
  named.metrics = {"total_cost", "peak_w"};
  Baseline before = baseline_of(run(false), named, diagnostics);
  CHECK(before.configurations[0].over.window_s == 61.6);
  const auto standings = [&](const ResultsTable& now) {
    Diagnostics said;
    const auto found = check(now, before, {}, said);
    REQUIRE(found);
    std::vector<MetricStanding> all;
    for (const MetricCheck& each : found->configurations[0].metrics) all.push_back(each.standing);
    return std::pair(all, said.size());
  };
  // 7 % less cost and 6 % more power, and neither says a thing.
  using Standings = std::vector<MetricStanding>;
  CHECK(standings(run(true)) == std::pair(Standings(2, MetricStanding::ambiguous), std::size_t{2}));
  ResultsTable dearer = run(false);
  dearer.rows[0].metrics[place_of("total_cost")] = Estimate{0.06, 0.06, 0.06};
  CHECK(standings(dearer).first == Standings{MetricStanding::same, MetricStanding::worse});
  before.configurations[0].over = {};  // as older ones have it
  CHECK(standings(dearer).first == Standings{MetricStanding::same, MetricStanding::ambiguous});
}

}  // namespace comparable_test
