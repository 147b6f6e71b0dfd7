// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/baseline.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/explore/rows.hpp"

using namespace llmscape;
using namespace llmscape::explore;
using namespace llmscape::explore::test;
using llmscape::testing::approx;

namespace {

ResultsTable two_rates() {
  ResultsTable table;
  table.axes = {"hardware", "workload.arrivals.rate"};
  table.rows = {row(0, {"l4", "8 /s"}, {{"ttft.p99", 0.1 + 0.2}, {"goodput_rps", 7.5}, {"steps", 100}}),
                row(1, {"l4", "16 /s"}, {{"ttft.p99", 1e-7}, {"goodput_rps", 1e21}, {"steps", 200}})};
  table.rows[0].metrics[place_of("ttft.p99")] = Estimate{0.1 + 0.2, 0.25, 0.5};
  return table;
}

Baseline baseline_of_two_rates(const Baseline& before = {}) {
  Diagnostics diagnostics;
  Baseline baseline = baseline_of(two_rates(), before, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  return baseline;
}

// "line:column: message suggestion" of all that is wrong with the text.
std::vector<std::string> mistakes(const std::string& text) {
  const llmscape::test::Scratch scratch;
  Diagnostics diagnostics;
  CHECK_FALSE(read_baseline(scratch.file("baseline.json", text), diagnostics));
  std::vector<std::string> all;
  for (const Diagnostic& d : diagnostics.sorted())
    all.push_back(std::to_string(d.where.line) + ':' + std::to_string(d.where.column) + ": " + d.message +
                  (d.suggestion.empty() ? "" : "; " + d.suggestion));
  return all;
}

}  // namespace

TEST_CASE("a baseline that is written and read again holds the same bits, and is written as the same bytes") {
  Baseline baseline = baseline_of_two_rates();
  baseline.tool = "llmscape \"1\"";
  const llmscape::test::Scratch scratch;
  const std::string text = baseline_json(baseline);
  Diagnostics diagnostics;
  const auto read = read_baseline(scratch.file("baseline.json", text), diagnostics);
  REQUIRE_MESSAGE(read, diagnostics.text(false));
  CHECK(baseline_json(*read) == text);
  CHECK(read->axes == std::vector<std::string>{"hardware", "workload.arrivals.rate"});
  REQUIRE(read->configurations.size() == 2);
  CHECK(read->configurations[0].values == std::vector<std::string>{"l4", "8 /s"});
  CHECK(read->configurations[0].metrics.at("ttft_s.p99") == Estimate{0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2});
  CHECK(read->configurations[1].metrics.at("ttft_s.p99") == Estimate{1e-7, 1e-7, 1e-7});
  CHECK(read->configurations[1].metrics.at("goodput_rps").value == 1e21);
}

TEST_CASE("metrics of which neither more nor less is better are left out, unless they are named") {
  CHECK_FALSE(baseline_of_two_rates().configurations[0].metrics.contains("steps"));
  Baseline named;
  named.metrics = {"steps", "ttft"};
  const auto metrics = baseline_of_two_rates(named).configurations[0].metrics;
  CHECK(metrics.size() == 2);
  CHECK(metrics.at("steps").value == 100);
  CHECK(metrics.contains("ttft_s.p99"));
}

TEST_CASE("an update keeps the tolerances and the choice of metrics") {
  Baseline before;
  before.tolerance = {0.05, true, "5%"};
  before.rules = {{"ttft.p99", metrics::find_columns("ttft.p99"), {0.002, false, "2 ms"}}};
  before.metrics = {"ttft.p99"};
  const Baseline after = baseline_of_two_rates(before);
  CHECK(after.tolerance.text == "5%");
  REQUIRE(after.rules.size() == 1);
  CHECK(after.rules[0].tolerance.text == "2 ms");
  CHECK(after.configurations[0].metrics.size() == 1);
}

TEST_CASE("a result that is not valid makes no baseline") {
  ResultsTable table = two_rates();
  table.rows[1].verdict = "saturated";
  Diagnostics diagnostics;
  baseline_of(table, {}, diagnostics);
  REQUIRE(diagnostics.errors() == 1);
  CHECK(diagnostics.sorted()[0].message == "hardware=l4 rate=16 /s is saturated: a baseline holds valid results only");
}

TEST_CASE("a tolerance of one statistic goes before that of its metric, and that before the common one") {
  const llmscape::test::Scratch scratch;
  Diagnostics diagnostics;
  const auto read = read_baseline(
      scratch.file("b.json", R"({"schema": "baseline/1", "tolerance": "3 %", "axes": [], "configurations": [],
                                  "tolerances": {"ttft.p99": "2 ms", "ttft": "5%", "goodput_rps": "0.5 /s",
                                                 "hit_rate": "0.01", "total_joules": "2 kJ"}})"),
      diagnostics);
  REQUIRE_MESSAGE(read, diagnostics.text(false));
  const auto around = [&](const char* name) { return read->tolerance_of(*metrics::find_column(name)).around(-4); };
  CHECK(around("ttft.p99") == approx(0.002));
  CHECK(around("ttft.mean") == approx(0.2));
  CHECK(around("goodput_rps") == approx(0.5));
  CHECK(around("hit_rate") == approx(0.01));
  CHECK(around("total_joules") == approx(2000));
  CHECK(around("e2e.p50") == approx(0.12));
}

TEST_CASE("every mistake of a baseline is reported where it stands") {
  CHECK(mistakes("{\"schema\": \"run/1\"}") ==
        std::vector<std::string>{"1:12: this is not a baseline: it must begin with \"schema\": \"baseline/1\""});
  const auto all = mistakes(R"({"schema": "baseline/1",
  "tolerance": "2 ms",
  "tolerances": {"ttft_p99": "1%", "ttft.p99": "2 GB", "itl": "-1%"},
  "metrics": ["e2e.p5"],
  "axes": ["rate"],
  "configurations": [
    {"values": ["8 /s"], "metrics": {"ttft_s.p99": {"value": 1}}},
    {"values": ["8 /s"], "metrics": {"ttft_s": {"value": 1}}},
    {"values": [], "metrics": {"no_such": {"value": 1}}}
  ]
})");
  REQUIRE(all.size() == 9);
  CHECK(all[0].starts_with("2:16: a tolerance is a share: 1%; got '2 ms'"));
  CHECK(all[1] == "3:18: unknown metric 'ttft_p99'; did you mean 'ttft.p99'?");
  CHECK(all[2].starts_with("3:48: a tolerance "));
  CHECK(all[3] == "3:63: a tolerance is not negative; got '-1%'");
  CHECK(all[4].starts_with("4:15: unknown metric 'e2e.p5'"));
  CHECK(all[5] == "8:16: this configuration stands twice");
  CHECK(all[6] == "8:38: which statistic of 'ttft_s'?");
  CHECK(all[7] == "9:16: 0 values of 1 axes");
  CHECK(all[8].starts_with("9:32: unknown metric 'no_such'"));
  CHECK(mistakes(R"({"schema": "baseline/1", "axes": [], "configurations": [
    {"values": [], "metrics": {"ttft_s.p99": {"value": 1, "low": 2, "high": 1}}}]})") ==
        std::vector<std::string>{"2:46: an interval has both ends, 'low' no higher than 'high'"});
}
