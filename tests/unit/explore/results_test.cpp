// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/results.hpp"

#include <doctest/doctest.h>

#include "tests/cli/scratch.hpp"
#include "tests/unit/explore/rows.hpp"

using namespace llmscape;
using namespace llmscape::explore;
using namespace llmscape::explore::test;

namespace {

// What is said of a results.csv, without the lines that are shown.
std::vector<std::string> refused(const std::string& csv) {
  const llmscape::test::Scratch scratch;
  Diagnostics diagnostics;
  CHECK_FALSE(read_results(scratch.file("results.csv", csv), diagnostics));
  std::vector<std::string> lines;
  for (const Diagnostic& d : diagnostics.sorted())
    lines.push_back(std::to_string(d.where.line) + ':' + std::to_string(d.where.column) + ' ' + d.message +
                    (d.suggestion.empty() ? "" : "; " + d.suggestion));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("what was written as results.csv is read back to the last bit") {
  ResultsTable table;
  table.axes = {"workload.rate", "model.kv, \"odd\""};
  table.rows = {row(0, {"8 /s", "[1, 2]"}, {{"ttft.p99", 0.1 + 0.2}, {"steps", 7}}),
                row(3, {"16 /s", "\"x\""}, {{"ttft.p99", 1e-300}})};
  table.rows[1].verdict = "saturated";
  table.rows[1].seed = -4;
  table.rows[1].energy_boundary = "chip+board";
  table.rows[1].currency = "EUR";
  table.rows[0].metrics[place_of("ttft.p99")]->low = 0.29;
  for (const bool intervals : {false, true}) {
    const llmscape::test::Scratch scratch;
    std::string csv = csv_header(table.axes, intervals);
    for (const ResultRow& result : table.rows) csv += csv_row(result, intervals);
    scratch.file("results.csv", csv);
    Diagnostics diagnostics;
    const auto read = read_results(scratch.path(""), diagnostics);
    REQUIRE(read);
    CHECK(read->folder / "results.csv" == scratch.path("results.csv"));
    CHECK(read->axes == table.axes);
    CHECK(read->failed == 0);
    REQUIRE(read->rows.size() == 2);
    CHECK(read->rows[1].point == 3);
    CHECK(read->rows[1].id == "p3");
    CHECK(read->rows[1].values == table.rows[1].values);
    CHECK(read->rows[1].verdict == "saturated");
    CHECK(read->rows[1].seed == -4);
    CHECK(read->rows[0].energy_boundary.empty());
    CHECK(read->rows[1].energy_boundary == "chip+board");
    CHECK(read->rows[1].currency == "EUR");
    CHECK(currency_of(*read) == "EUR");
    const auto boundary = Expression::parse("energy_boundary == 'chip+board'", {}, diagnostics);
    check_names(*boundary, *read, diagnostics);
    CHECK(diagnostics.errors() == 0);
    CHECK(boundary->holds(lookup_in(*read, configurations(*read)[1])));
    CHECK_FALSE(boundary->holds(lookup_in(*read, configurations(*read)[0])));
    CHECK(read->rows[1].metrics == table.rows[1].metrics);
    CHECK(read->rows[0].metrics[place_of("ttft.p99")]->low == (intervals ? 0.29 : 0.1 + 0.2));
  }
}

TEST_CASE("the folder of a run is a table of one row") {
  const llmscape::test::Scratch scratch;
  scratch.file("run.json", R"({"schema": "run/1", "seed": 3, "verdict": {"state": "valid"}, "steps": 5})");
  Diagnostics diagnostics;
  const auto table = read_results(scratch.path(""), diagnostics);
  REQUIRE(table);
  REQUIRE(table->rows.size() == 1);
  CHECK(table->axes.empty());
  CHECK(table->rows[0].metrics[place_of("steps")]->value == 5);
  CHECK(configurations(*table)[0].label == std::filesystem::path(scratch.path("x")).parent_path().filename());
}

TEST_CASE("a folder without results says so") {
  const llmscape::test::Scratch scratch;
  Diagnostics diagnostics;
  CHECK_FALSE(read_results(scratch.path(""), diagnostics));
  CHECK(diagnostics.errors() == 1);
  CHECK_FALSE(read_results(scratch.file("run.json", "{}"), diagnostics));
  CHECK(diagnostics.errors() == 2);
}

TEST_CASE("every mistake in a header is named, with what was meant") {
  CHECK(refused("") == Lines{"0:0 the table is empty"});
  CHECK(refused("a,b\n") ==
        Lines{"1:1 this is not the header of a results.csv: point, id, axes, repeat, seed, verdict, metrics"});
  CHECK(refused("point,id,repeat,seed,verdict,ttft_s.maen,steps,steps,blocks.low\n") ==
        Lines{"1:30 unknown metric 'ttft_s.maen'; did you mean 'ttft_s.mean'?", "1:48 column 'steps' stands twice",
              "1:54 column 'blocks.low' stands before its metric"});
}

TEST_CASE("every mistake in rows is named at its cell") {
  CHECK(refused("point,id,repeat,seed,verdict,steps,steps.low,steps.high\n"
                "x,a,0,1,valid,1,,\n"
                "1,a,0,1.5,fine,nan,,\n"
                "2,a,0,1,valid,1\n"
                "2,a,0,1,valid,,1,\n"
                "3,a,0,1,valid,2,3,1\n"
                "3,a,0,1,valid,2,,\n") ==
        Lines{"2:1 'point' must be a whole number; got 'x'", "3:7 'seed' must be a whole number; got '1.5'",
              "3:11 'fine' is no verdict: valid, noisy, unsteady, saturated, truncated",
              "3:16 'steps' must be a finite number; got 'nan'", "4:1 6 cells where the header has 8",
              "5:16 an interval of 'steps', which has no value", "6:19 the interval of 'steps' ends before it begins",
              "7:1 rows must be in the order of the plan, each point once"});
}
