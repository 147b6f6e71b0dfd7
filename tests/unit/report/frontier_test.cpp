// SPDX-License-Identifier: Apache-2.0
#include "sim/report/frontier.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "sim/explore/axis_role.hpp"
#include "tests/unit/explore/rows.hpp"
#include "tests/unit/report/question.hpp"

namespace frontier_test {

using namespace llmscape;
using namespace llmscape::explore;
using namespace llmscape::explore::test;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Two kinds of hardware at two rates: tokens of a joule against the time to the first.
ResultsTable sweep() {
  ResultsTable table;
  table.axes = {"hardware", "workload.rate"};
  const auto add = [&table](const char* hardware, const char* rate, double tokens, double ttft) {
    table.rows.push_back(
        row(table.rows.size(), {hardware, rate}, {{"output_tokens_per_joule", tokens}, {"ttft.p99", ttft}}));
  };
  add("l4 x1", "1 /s", 1, 0.1);
  add("l4 x1", "4 /s", 2, 0.3);
  add("cim x4", "1 /s", 4.6, 0.15);
  add("cim x4", "4 /s", 5, 0.5);
  return table;
}

struct Asked : report::Question {
  explicit Asked(const std::string& slo, const std::string& group, ResultsTable results = sweep())
      : Question(std::move(results), "output_tokens_per_joule,ttft.p99", slo, group) {}
};

}  // namespace

TEST_CASE("with an SLO the winner is the best that meets it, against another group's frontier at the limit") {
  // By hand: cim goes from 4.6 at 150 ms to 5 at 500 ms, 4.6 + 50 / 350 x 0.4 = 4.657 at 200 ms; l4 from 1 at 100 ms to
  // 2 at 300 ms, 1.5 at 200 ms; 3.10 of it.
  CHECK(report::winner(Asked("ttft.p99<=200ms", "hardware").view()) ==
        "hardware=cim x4 rate=1 /s meets ttft.p99<=200ms at 3.07x the output tokens/joule of l4 x1 "
        "(4.60 instead of 1.50, read off its frontier at ttft p99 200 ms)");
  // Nothing of l4 was run between 300 ms and the limit, where it may do better: 4.6 / 2.
  CHECK(report::winner(Asked("ttft.p99<=400ms", "hardware").view()) ==
        "hardware=cim x4 rate=1 /s meets ttft.p99<=400ms with at most 2.3x the output tokens/joule of l4 x1 "
        "(4.60 instead of 2.00, read off its frontier at ttft p99 400 ms: its last point is at 300 ms)");
  // With a load between that is worse, the frontier ends at 300 ms, and the ratio is one.
  ResultsTable loaded = sweep();
  loaded.rows.push_back(
      row(loaded.rows.size(), {"l4 x1", "3 /s"}, {{"output_tokens_per_joule", 1.8}, {"ttft.p99", 0.35}}));
  CHECK(report::winner(Asked("ttft.p99<=400ms", "hardware", loaded).view()) ==
        "hardware=cim x4 rate=1 /s meets ttft.p99<=400ms at 2.3x the output tokens/joule of l4 x1 "
        "(4.60 instead of 2.00, read off its frontier at ttft p99 400 ms)");
  // Two limits cross no frontier at one place: the best that meet them are compared as they are.
  CHECK(report::winner(Asked("ttft.p99<=200ms and ttft.p99<=1s", "hardware").view()) ==
        "hardware=cim x4 rate=1 /s meets ttft.p99<=200ms and ttft.p99<=1s at 4.6x the output tokens/joule of "
        "hardware=l4 x1 rate=1 /s (4.60 instead of 1.00)");
  CHECK(report::winner(Asked("ttft.p99<=120ms", "hardware").view()) ==
        "hardware=l4 x1 rate=1 /s meets ttft.p99<=120ms with output tokens/joule 1.00; no other group does");
  CHECK(report::winner(Asked("ttft.p99<=200ms", "").view()) ==
        "hardware=cim x4 rate=1 /s meets ttft.p99<=200ms with output tokens/joule 4.60, the best of those compared");
}

TEST_CASE("labels can name some axes only") {
  Asked asked("ttft.p99<=200ms", "hardware");
  asked.labels = {0};
  CHECK(report::winner(asked.view()) ==
        "cim x4 meets ttft.p99<=200ms at 3.07x the output tokens/joule of l4 x1 (4.60 instead of 1.50, read off its "
        "frontier at "
        "ttft p99 200 ms)");
}

TEST_CASE("the sentence names the groups, whatever labels name") {
  Asked asked("ttft.p99<=200ms", "hardware");
  asked.labels = {1};
  CHECK(report::winner(asked.view()).starts_with("hardware=cim x4 rate=1 /s meets"));
}

TEST_CASE("does the sentence compare like with like?") {
  // Each machine under two workloads at two rates. The best of all is cim with infilling; against l4 with RAG it would
  // be 10 times as good, but under one workload it is 2 times.
  ResultsTable table;
  table.axes = {"hardware", "workload", "workload.arrivals.rate"};
  const auto add = [&table](const char* hardware, const char* workload, const char* rate, double tokens, double ttft) {
    table.rows.push_back(
        row(table.rows.size(), {hardware, workload, rate}, {{"output_tokens_per_joule", tokens}, {"ttft.p99", ttft}}));
  };
  for (const auto& [machine, factor] : {std::pair("cim", 2.), std::pair("l4", 1.)})
    for (const auto& [work, tokens] : {std::pair("infilling", 5.), std::pair("rag", 1.)}) {
      add(machine, work, "1 /s", factor * tokens * 0.8, 0.1);
      add(machine, work, "2 /s", factor * tokens, 0.2);
    }
  CHECK(report::winner(Asked("ttft.p99<=200ms", "hardware", table).view()) ==
        "workload=infilling: hardware=cim workload=infilling rate=2 /s meets ttft.p99<=200ms at 2x the output "
        "tokens/joule of l4 (10.0 instead of 5.00, read off its frontier at ttft p99 200 ms)\n"
        "workload=rag: hardware=cim workload=rag rate=2 /s meets ttft.p99<=200ms at 2x the output tokens/joule of l4 "
        "(2.00 instead of 1.00, read off its frontier at ttft p99 200 ms)");
  // Grouped by workload there is nobody to be compared with.
  CHECK_FALSE(has(report::winner(Asked("ttft.p99<=200ms", "workload", table).view()), " at 2"));
  CHECK(has(report::winner(Asked("ttft.p99<=200ms", "workload", table).view()), "workload=rag: "));
  const std::string text = frontier_text(Asked("ttft.p99<=200ms", "hardware", table).view(), false);
  CHECK(text.starts_with("workload=infilling: hardware=cim"));
  CHECK(has(text, "200 ms).\nworkload=rag: "));
}

TEST_CASE("are the joules of a chip and of a board compared? each boundary has a sentence of its own") {
  ResultsTable table = sweep();
  for (ResultRow& row : table.rows) row.energy_boundary = row.values[0] == "l4 x1" ? "board" : "chip";
  const Asked asked("ttft.p99<=200ms", "hardware", table);
  CHECK(report::winner(asked.view()) ==
        "energy_boundary=board: hardware=l4 x1 rate=1 /s meets ttft.p99<=200ms with output tokens/joule 1.00; no other "
        "group does\n"
        "energy_boundary=chip: hardware=cim x4 rate=1 /s meets ttft.p99<=200ms with output tokens/joule 4.60; no other "
        "group does");
  CHECK(mixture_notice(asked.view()) ==
        "Notice: frontiers and tables below mix what is not compared: energy_boundary (board, chip). One of each: "
        "--where 'energy_boundary == \"board\"'");
  CHECK(has(frontier_text(asked.view(), false), "\nNotice: frontiers and tables below mix"));
  CHECK(nlohmann::json::parse(frontier_json(asked.view()))["notice"] == mixture_notice(asked.view()));
  // Times are comparable whatever joules include.
  Asked times("", "hardware", table);
  Diagnostics diagnostics;
  times.query.objectives = read_objectives("ttft.p99,ttft.p50", Direction::of_metric, "", table, diagnostics);
  CHECK(mixture_notice(times.view()).empty());
  for (ResultRow& row : table.rows) row.energy_boundary = "board";
  CHECK(has(report::winner(Asked("ttft.p99<=200ms", "hardware", table).view()), "3.07x"));
  CHECK(mixture_notice(Asked("", "hardware", table).view()).empty());
}

TEST_CASE("are amounts in unlike currencies compared? each currency has a sentence of its own") {
  ResultsTable table = sweep();
  for (ResultRow& row : table.rows) {
    row.currency = row.values[0] == "l4 x1" ? "EUR" : "JPY";
    row.metrics[place_of("cost_per_million_output_tokens")] = Estimate{3, 3, 3};
  }
  Asked asked("", "hardware", table);
  Diagnostics diagnostics;
  asked.query.objectives =
      read_objectives("cost_per_million_output_tokens,ttft.p99", Direction::of_metric, "", table, diagnostics);
  const std::string told = report::winner(asked.view());
  CHECK(has(told, "currency=EUR: "));
  CHECK(has(told, "currency=JPY: "));
  CHECK_FALSE(has(told, "x the cost"));
  CHECK(mixture_notice(asked.view()) ==
        "Notice: frontiers and tables below mix what is not compared: currency (EUR, JPY). One of each: "
        "--where 'currency == \"EUR\"'");
  // What names no money is compared, and so is what has but one currency; runs without prices have none.
  CHECK(has(report::winner(Asked("ttft.p99<=200ms", "hardware", table).view()), "3.07x"));
  for (ResultRow& row : table.rows) row.currency = row.values[0] == "l4 x1" ? "EUR" : "";
  Asked some("", "hardware", table);
  some.query.objectives = asked.query.objectives;
  CHECK(mixture_notice(some.view()).empty());
}

TEST_CASE("what of a headline about joules is assumed? the share of both stands beside it") {
  ResultsTable table = sweep();
  for (ResultRow& row : table.rows) {
    const double share = row.values[0] == "l4 x1" ? 0.25 : 1;
    row.metrics[place_of("assumed_share")] = Estimate{share, share, share};
  }
  CHECK(report::winner(Asked("ttft.p99<=200ms", "hardware", table).view()) ==
        "hardware=cim x4 rate=1 /s meets ttft.p99<=200ms at 3.07x the output tokens/joule of l4 x1 "
        "(4.60 instead of 1.50, read off its frontier at ttft p99 200 ms; 100.0 % and 25.0 % of their joules are "
        "assumed)");
  CHECK(has(report::winner(Asked("ttft.p99<=200ms", "", table).view()),
            "output tokens/joule 4.60 (100.0 % of its joules are assumed), the best of those compared"));
}

TEST_CASE("does a picture of several workloads say that it mixes them?") {
  ResultsTable table = sweep();
  table.axes = {"hardware", "workload.stream"};
  for (ResultRow& row : table.rows) row.values[1] = row.values[1] == "1 /s" ? "rag" : "chat";
  CHECK(mixture_notice(Asked("", "hardware", table).view()) ==
        "Notice: frontiers and tables below mix what is not compared: stream (rag, chat). One of each: --where 'stream "
        "== \"rag\"'");
  table.rows.erase(table.rows.begin() + 1);  // what does not qualify is not drawn, either
  table.rows.pop_back();
  CHECK(mixture_notice(Asked("", "hardware", table).view()).empty());
  CHECK(mixture_notice(Asked("", "hardware").view()).empty());  // a rate is a load: frontiers run along it
}

TEST_CASE("what may an axis vary, and configurations still be compared?") {
  ResultsTable table;
  table.axes = {"hardware.devices[0].preset",  "serving.tensor_parallel", "serving.pools[0].data_parallel",
                "workload.arrivals.users",     "workload.requests",       "model.weights",
                "serving.batcher.max_num_seqs"};
  using enum AxisRole;
  CHECK(axis_roles(table) == std::vector{hardware, hardware, hardware, load, load, workload, serving});
  table.rows.push_back(row(0, {"l4", "1", "1", "8", "100", "bf16", "64"}, {}));
  table.rows.push_back(row(1, {"h100", "2", "4", "16", "100", "bf16", "64"}, {}));
  table.rows.push_back(row(2, {"h100", "2", "4", "16", "100", "bf16", "128"}, {}));
  CHECK(comparable_slices(table, 0).size() == 2);
  CHECK(comparable_slices(table, 0)[1].name == "max_num_seqs=128");
  CHECK(comparable_slices(table, 6).size() == 1);  // who groups by a policy asks for it
  table.rows[1].values[5] = "fp8";
  CHECK(comparable_slices(table, 5).size() == 3);  // bf16 and fp8 with 64 sequences, bf16 with 128
}

TEST_CASE("without an SLO the winner is the knee, against the other frontier at the same place") {
  // The frontier of all is l4 at 1 /s and cim at both rates: it bends at cim, 1 /s, at 150 ms, where l4 gives 1.25.
  CHECK(report::winner(Asked("", "").view()) ==
        "hardware=cim x4 rate=1 /s is where the frontier bends: output tokens/joule 4.60, ttft p99 150 ms");
  Asked grouped("", "hardware");
  grouped.labels = {0};
  CHECK(report::winner(grouped.view()) ==
        "cim x4 reaches ttft p99 150 ms at 3.68x the output tokens/joule of l4 x1 (4.60 instead of 1.25, read off its "
        "frontier at ttft p99 150 ms)");
  // Had l4 been slower, nothing of it would keep up.
  ResultsTable table = sweep();
  for (const std::size_t l4 : {0, 1}) table.rows[l4].metrics[place_of("ttft.p99")] = Estimate{0.6, 0.6, 0.6};
  CHECK(report::winner(Asked("", "hardware", table).view()) ==
        "hardware=cim x4 rate=4 /s reaches ttft p99 500 ms with output tokens/joule 5.00; no other group does");
}

TEST_CASE("a lead within the intervals says so") {
  ResultsTable table = sweep();
  table.rows[2].metrics[place_of("output_tokens_per_joule")]->low = 0.9;
  CHECK(has(report::winner(Asked("ttft.p99<=200ms", "hardware", table).view()), ", but their intervals overlap"));
}

TEST_CASE("the terminal has the sentence, the picture, the frontier and what was left out") {
  ResultsTable table = sweep();
  table.rows[1].verdict = "saturated";
  const std::string text = frontier_text(Asked("ttft.p99<=200ms", "hardware", table).view(), false);
  CHECK(text.starts_with("hardware=cim x4 rate=1 /s meets"));
  CHECK(has(text, "output_tokens_per_joule (tokens/J)\n"));
  CHECK(has(text, "* cim x4  #2     hardware=cim x4 rate=1 /s"));
  CHECK(has(text, "Left out of 4 configurations: 1 not valid (--include-invalid), 1 that miss ttft.p99<=200ms.\n"));
  CHECK(frontier_text(Asked("ttft.p99<=1ms", "").view(), false) ==
        "No configuration qualifies.\nLeft out of 4 configurations: 4 that miss ttft.p99<=1ms.\n");
}

TEST_CASE("points that failed are told: a frontier may lack its end") {
  ResultsTable table = sweep();
  const auto text = [](const ResultsTable& results) {
    return report::frontier_text(Asked("", "hardware", results).view(), false);
  };
  CHECK_FALSE(has(text(table), "failed"));
  table.failed = 1;
  CHECK(has(text(table), "A point of the sweep failed and is not looked at"));
  table.failed = 12;
  CHECK(has(text(table), "12 points of the sweep failed and are not looked at"));
  CHECK(nlohmann::json::parse(report::frontier_json(Asked("", "", table).view()))["failed"] == 12);
}

TEST_CASE("JSON and CSV have the same points, those of the frontiers") {
  const Asked asked("", "hardware");
  const auto json = nlohmann::json::parse(frontier_json(asked.view()));
  CHECK(json["schema"] == "pareto/1");
  REQUIRE(json["groups"].size() == 2);
  CHECK(json["groups"][1]["points"][0]["point"] == 3);
  CHECK(json["groups"][1]["points"][0]["values"]["workload.rate"] == "4 /s");
  CHECK(json["groups"][1]["points"][0]["objectives"]["output_tokens_per_joule"]["value"] == 5);
  CHECK(json["groups"][1]["points"][0]["best_of_all"] == true);
  std::size_t points = 0;
  for (const auto& group : json["groups"]) points += group["points"].size();
  const std::string csv = frontier_csv(asked.view());
  CHECK(
      csv.starts_with("group,point,id,hardware,workload.rate,verdict,standing,best_of_all,knee,"
                      "output_tokens_per_joule,output_tokens_per_joule.low,output_tokens_per_joule.high,ttft.p99,"));
  CHECK(std::ranges::count(csv, '\n') == static_cast<std::ptrdiff_t>(points + 1));
  CHECK(has(csv, "\ncim x4,3,p3,cim x4,4 /s,valid,frontier,true,false,5,5,5,0.5,0.5,0.5\n"));
}

TEST_CASE("who dominates a configuration is told with ratios") {
  const Asked asked("", "");
  const std::string text = dominators_text(asked.view(), 1);
  CHECK(text.starts_with("1 dominates hardware=l4 x1 rate=4 /s:\n"));
  CHECK(has(text, "2.300x"));
  CHECK(has(text, "0.500x"));
  CHECK(dominators_text(asked.view(), 3) == "Nothing dominates hardware=cim x4 rate=4 /s.\n");
}

}  // namespace frontier_test
