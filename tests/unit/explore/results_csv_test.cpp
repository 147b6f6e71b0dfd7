// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/results_csv.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "sim/explore/run_row.hpp"
#include "sim/result/metric_table.hpp"

using namespace llmscape;
using namespace llmscape::explore;

namespace {

const Estimate* metric(const ResultRow& row, const char* name) {
  const auto& value = row.metrics.at(static_cast<std::size_t>(metrics::find_column(name) - metrics::columns().data()));
  return value ? &*value : nullptr;
}

}  // namespace

TEST_CASE("a cell is quoted where it must be, and stays on one line") {
  CHECK(csv_cell("8 /s") == "8 /s");
  CHECK(csv_cell("[1, 2]") == "\"[1, 2]\"");
  CHECK(csv_cell("say \"a\"") == "\"say \"\"a\"\"\"");
  CHECK(csv_cell("a\nb") == "a b");
}

TEST_CASE("a cell is no formula of a spreadsheet, and a negative number stays one") {
  CHECK(csv_cell("=1+1") == "'=1+1");
  CHECK(csv_cell("@SUM(A1,A2)") == "\"'@SUM(A1,A2)\"");
  CHECK(csv_cell("+1") == "'+1");
  CHECK(csv_cell("-cmd") == "'-cmd");
  CHECK(csv_cell("'=1") == "''=1");
  CHECK(csv_cell("-2+cmd|' /C calc'!A1") == "'-2+cmd|' /C calc'!A1");
  CHECK(csv_cell("-5") == "-5");
  CHECK(csv_cell("-1.5e+06 ms") == "-1.5e+06 ms");
  CHECK(csv_cell("") == "");
}

TEST_CASE("the header and a row of results.csv have as many cells, with intervals and without") {
  ResultRow row;
  row.values = {"8 /s", "[1, 2]"};
  row.verdict = "valid";
  row.metrics.resize(metrics::columns().size());
  row.metrics[0] = Estimate{0.1, 0.05, 0.25};
  row.metrics[1] = Estimate{1e-9, 1e-9, 1e-9};
  const auto cells = [](const std::string& line) { return std::ranges::count(line, ','); };
  for (const bool intervals : {false, true})
    CHECK(cells(csv_row(row, intervals)) == cells(csv_header({"rate", "counts"}, intervals)) + 1);  // that of [1, 2]
  CHECK(csv_header({"rate"}, true).starts_with("point,id,rate,repeat,seed,verdict,ttft_s.mean,ttft_s.mean.low,"));
  CHECK(csv_row(row, false).starts_with("0,,8 /s,\"[1, 2]\",0,0,valid,0.1,1e-09,,"));
  CHECK(csv_row(row, true).starts_with("0,,8 /s,\"[1, 2]\",0,0,valid,0.1,0.05,0.25,1e-09,,,,,,"));
}

TEST_CASE("the row of a run has its seed, verdict, metrics and intervals") {
  const auto run = nlohmann::json::parse(R"({
    "seed": 7, "verdict": {"state": "saturated"}, "steps": 12,
    "latency": {"ttft_s": {"mean": 0.5, "p99": 2}},
    "intervals": {"ttft_s": {"p99": {"low": 1.5, "high": 2.5}}}})");
  const ResultRow row = row_of(run);
  CHECK(row.seed == 7);
  CHECK(row.verdict == "saturated");
  REQUIRE(metric(row, "ttft.p99"));
  CHECK(*metric(row, "ttft.p99") == Estimate{2, 1.5, 2.5});
  CHECK(*metric(row, "ttft.mean") == Estimate{0.5, 0.5, 0.5});
  CHECK(*metric(row, "steps") == Estimate{12, 12, 12});
  CHECK(metric(row, "tpot.mean") == nullptr);
}
