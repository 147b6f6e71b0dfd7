// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"
#include "tests/unit/explore/rows.hpp"

namespace llmscape::test::pareto_test {
namespace {

using explore::test::row;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The folder of a sweep over hardware and rate.
std::string sweep(const Scratch& scratch) {
  const std::vector<std::string> axes = {"hardware", "workload.rate"};
  std::string csv = explore::csv_header(axes, false);
  std::uint64_t point = 0;
  for (const auto& [hardware, tokens, ttft] : {std::tuple("l4", 1., 0.1), {"l4", 2., 0.3}, {"cim", 4., 0.15}})
    csv += csv_row(row(point++, {hardware, "4 /s"},
                       {{"output_tokens_per_joule", tokens}, {"ttft.p99", ttft}, {"tpot.mean", ttft / 10}}),
                   false);
  // Three configurations need three values.
  csv.replace(csv.find("p1,l4,4 /s"), 10, "p1,l4,8 /s");
  scratch.file("results.csv", csv);
  return scratch.path("");
}

}  // namespace

TEST_CASE("pareto names a winner and draws the frontier") {
  const Scratch scratch;
  const Ran ran = run_program({"pareto", sweep(scratch), "--objectives", "output_tokens_per_joule,ttft.p99", "--group",
                               "hardware", "--slo", "ttft.p99 <= 200 ms", "--label", "hardware"});
  CHECK(ran.code == 0);
  CHECK(ran.err.empty());
  // At 200 ms l4 is half-way from 1 to 2 tokens a joule; 4 / 1.5.
  CHECK(ran.out.starts_with(
      "cim meets ttft.p99 <= 200 ms at 2.67x the output tokens/joule of l4 (4.00 instead of 1.50, "));
  CHECK(holds(ran.out, "A l4   B cim\n"));
}

TEST_CASE("the objectives and the SLO of the plan count when nothing is typed") {
  const Scratch scratch;
  const std::string folder = sweep(scratch);
  const Ran none = run_program({"pareto", folder});
  CHECK(none.code == 2);
  CHECK(none.err == "error: no objectives: say --max, --min, --objectives or --preset\n1 error. Nothing was run.\n");
  scratch.file("plan.yaml",
               "objectives: {maximize: [output_tokens_per_joule], minimize: [ttft.p99]}\nslo: ttft.p99 < 120 ms\n");
  const auto json = nlohmann::json::parse(run_program({"pareto", folder, "--format", "json"}).out);
  CHECK(json["objectives"][1]["direction"] == "minimize");
  CHECK(json["left_out"]["slo"] == 2);
  const auto typed = nlohmann::json::parse(
      run_program({"pareto", folder, "--format", "json", "--preset", "interactivity", "--slo", "", "--min", "ttft.p99"})
          .out);
  CHECK(typed["objectives"].size() == 3);
  CHECK_FALSE(typed.contains("slo"));
}

TEST_CASE("objectives keep the order in which they are typed, or stand in the plan") {
  const Scratch scratch;
  const std::string folder = sweep(scratch);
  const auto names = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"pareto", folder, "--format", "json"});
    std::vector<std::string> all;
    const auto json = nlohmann::json::parse(run_program(words).out);
    for (const auto& objective : json["objectives"]) all.push_back(objective["name"]);
    return all;
  };
  const std::string tokens = "output_tokens_per_joule", ttft = "ttft.p99", tpot = "tpot.mean";
  CHECK(names({"--max", tokens, "--min", ttft}) == std::vector{tokens, ttft});
  CHECK(names({"--min", ttft, "--max", tokens}) == std::vector{ttft, tokens});
  CHECK(names({"--min", ttft, "--max", tokens, "--min", tpot}) == std::vector{ttft, tokens, tpot});
  scratch.file("plan.yaml", "objectives: {minimize: [ttft.p99], maximize: [output_tokens_per_joule]}\n");
  CHECK(names({}) == std::vector{ttft, tokens});
}

TEST_CASE("money has the currency of the scenario's prices") {
  const Scratch scratch;
  std::string csv = explore::csv_header({"hardware"}, false);
  std::uint64_t point = 0;
  for (const auto& [hardware, cost, ttft] : {std::tuple("l4", 1., 0.1), {"cim", 4., 0.05}}) {
    explore::ResultRow one = row(point++, {hardware}, {{"cost_per_million_output_tokens", cost}, {"ttft.p99", ttft}});
    one.currency = "EUR";
    csv += csv_row(one, false);
  }
  scratch.file("results.csv", csv);
  const Ran ran = run_program({"pareto", scratch.path(""), "--min", "cost_per_million_output_tokens,ttft.p99"});
  CHECK(ran.out.find("cost_per_million_output_tokens (EUR/Mtoken)\n") != std::string::npos);  // the upright axis
  CHECK(holds(ran.out, "  min EUR/Mtoken  "));                                                // the table
}

TEST_CASE("the preset of costs takes what results of older versions have, and says so") {
  const auto told = [](const char* metric) {
    const Scratch scratch;
    std::string csv = explore::csv_header({"hardware"}, false);
    std::uint64_t point = 0;
    for (const auto& [hardware, cost, tpot] : {std::tuple("l4", 1., 0.1), {"cim", 4., 0.05}})
      csv += csv_row(row(point++, {hardware}, {{metric, cost}, {"tpot.mean", tpot}}), false);
    scratch.file("results.csv", csv);
    const Ran ran = run_program({"pareto", scratch.path(""), "--preset", "cost"});
    CHECK_MESSAGE(ran.code == 0, ran.err);
    return ran.err;
  };
  CHECK(told("cost_per_million_answered_tokens").empty());
  CHECK(holds(told("cost_per_million_output_tokens"), "warning: no result has cost_per_million_answered_tokens"));
}

TEST_CASE("an SLO and --dominates do not put amounts in two currencies side by side") {
  const Scratch scratch;
  std::string csv = explore::csv_header({"hardware"}, false);
  std::uint64_t point = 0;
  // 4 EUR are more than 100 JPY, whatever the numbers say.
  for (const auto& [hardware, currency, cost] : {std::tuple("l4", "EUR", 4.), {"cim", "JPY", 100.}, {"a", "EUR", 5.}}) {
    explore::ResultRow one = row(point++, {hardware}, {{"total_cost", cost}, {"ttft.p99", cost}});
    one.currency = currency;
    csv += csv_row(one, false);
  }
  scratch.file("results.csv", csv);
  const auto pareto = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"pareto", scratch.path(""), "--min", "total_cost,ttft.p99"});
    return run_program(more);
  };
  const Ran limited = pareto({"--slo", "total_cost < 10"});
  CHECK(limited.code == 2);
  CHECK(holds(limited.err, "the SLO compares amounts of money, and results are in EUR and JPY"));
  CHECK(holds(limited.err, "look at one: --where 'currency == \"EUR\"'"));
  CHECK(pareto({"--where", "total_cost < 10 or total_cost > 50"}).code == 2);
  CHECK(pareto({"--dominates", "1"}).code == 2);
  CHECK(holds(pareto({"--dominates", "1"}).err, "--dominates compares amounts of money"));
  CHECK(pareto({"--slo", "ttft.p99 < 10 s"}).code == 0);
  CHECK(pareto({"--slo", "total_cost < 10", "--where", "currency == EUR"}).code == 0);
  CHECK(holds(pareto({"--dominates", "2", "--where", "currency == EUR"}).out, "1 dominates hardware=a"));
  CHECK(run_program({"report", scratch.path(""), "-q", "--slo", "total_cost<=10"}).code == 2);
  CHECK(run_program({"report", scratch.path(""), "-q", "--where", "total_cost<=10"}).code == 2);
  CHECK(run_program({"report", scratch.path(""), "-q", "--slo", "total_cost<=10", "--where", "currency == EUR"}).code ==
        0);
}

TEST_CASE("sums over windows of unlike length, and peaks of unlike slices, are no objective, limit or condition") {
  const Scratch scratch;
  std::string csv = explore::csv_header({"memory"}, false);
  std::uint64_t point = 0;
  // At 3 USD an hour 57.3 s cost 0.04775 USD and 61.6 s 0.0513: less for no merit of the slower one.
  for (const auto& [memory, window, slice] : {std::tuple("2 TB/s", 57.3, 0.125), {"4.8 TB/s", 61.6, 1.}})
    csv += csv_row(row(point++, {memory},
                       {{"total_cost", window * 3 / 3600},
                        {"cost_per_million_output_tokens", 0.69},
                        {"window_s", window},
                        {"peak_w", 700 - window},
                        {"peak_window_s", slice},
                        {"tpot.mean", 1 / window},
                        {"output_tokens_per_s", window}}),
                   false);
  scratch.file("results.csv", csv);
  const auto pareto = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"pareto", scratch.path("")});
    return run_program(more);
  };
  const Ran refused = pareto({"--min", "total_cost,tpot.mean"});
  CHECK(refused.code == 2);
  CHECK(holds(refused.err, "an objective compares total_cost, a sum over windows that differ in length"));
  CHECK(holds(refused.err, "look at cost_per_million_output_tokens"));
  CHECK(pareto({"--min", "cost_per_million_output_tokens,tpot.mean"}).code == 0);
  CHECK(pareto({"--min", "rent=total_cost/window_s,tpot.mean"}).code == 0);
  CHECK(pareto({"--min", "total_cost,tpot.mean", "--where", "memory == 2 TB/s"}).code == 0);
  CHECK(pareto({"--min", "tpot.mean", "--max", "output_tokens_per_s", "--slo", "total_cost<=1"}).code == 2);
  CHECK(holds(pareto({"--preset", "power"}).err, "peak_w, the peak of slices that differ in length"));
  // The page is written, and ranks nothing by it; as a limit it is refused.
  const auto report = [&](const char* slo) {
    return run_program({"report", scratch.path(""), "-q", "--min", "total_cost,tpot.mean", "--slo", slo, "-o",
                        scratch.path("page.html")});
  };
  CHECK(report("tpot.mean<=1 s").code == 0);
  CHECK(holds(scratch.content("page.html"), R"("over":["window"],"instead":"cost_per_million_output_tokens")"));
  CHECK(holds(report("total_cost<=1").err, "compares what was taken over unlike lengths of time"));
  // Nor does a condition leave the shorter one alone: both verbs say the same of it.
  for (const char* verb : {"pareto", "report"})
    for (const auto& [where, sum] :
         {std::pair("total_cost <= 0.05", "a sum over windows"), {"peak_w < 640 W", "the peak of slices"}}) {
      const Ran alone =
          run_program({verb, scratch.path(""), "--min", "tpot.mean", "--max", "output_tokens_per_s", "--where", where});
      CHECK(alone.code == 2);
      CHECK(holds(alone.err, "--where compares "));
      CHECK(holds(alone.err, std::string(sum) + " that differ in length"));
    }
  CHECK(run_program({"report", scratch.path(""), "-q", "--where", "total_cost/window_s <= 1 /s", "-o",
                     scratch.path("page.html")})
            .code == 0);
}

TEST_CASE("groups in which windows are alike are ranked each by itself, and against no other") {
  const Scratch scratch;
  std::string csv;
  std::uint64_t point = 0;
  // Of each memory the first rate costs less and the second is faster: both are on its frontier. Of all four, the two
  // of 2 TB/s cost less for no merit (57.3 s against 61.6 s).
  const auto add = [&](const char* memory, double window, const char* rate, double cost, double tpot) {
    csv +=
        csv_row(row(point++, {memory, rate}, {{"total_cost", cost}, {"window_s", window}, {"tpot.mean", tpot}}), false);
  };
  const auto rows = [&](double last) {
    csv = explore::csv_header({"hardware", "rate"}, false);
    point = 0;
    add("2 TB/s", 57.3, "1 /s", 0.047, 0.020);
    add("2 TB/s", 57.3, "2 /s", 0.048, 0.019);
    add("4.8 TB/s", 61.6, "1 /s", 0.051, 0.021);
    add("4.8 TB/s", last, "2 /s", 0.052, 0.020);
    scratch.file("results.csv", csv);
  };
  const auto pareto = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"pareto", scratch.path(""), "--min", "total_cost,tpot.mean"});
    return run_program(more);
  };
  rows(61.6);
  CHECK(pareto({}).code == 2);
  const Ran alone = pareto({"--group", "hardware"});
  CHECK(alone.code == 0);
  CHECK(alone.out.starts_with("hardware=2 TB/s: hardware=2 TB/s rate=1 /s is"));
  CHECK_MESSAGE(holds(alone.out, "\nhardware=4.8 TB/s: hardware=4.8 TB/s rate=1 /s is"), alone.out);
  CHECK(holds(alone.out, "No group is held against another"));
  CHECK_FALSE(holds(alone.out, "all groups together"));
  const auto json = nlohmann::json::parse(pareto({"--group", "hardware", "--format", "json"}).out);
  CHECK(json["groups_alone"] == true);
  CHECK(json["best"].empty());
  REQUIRE(json["groups"].size() == 2);
  for (const auto& group : json["groups"]) {
    CHECK(group["points"].size() == 2);
    for (const auto& one : group["points"]) CHECK(one["best_of_all"] == false);
  }
  // What dominates 4.8 TB/s at 1 /s, were all windows alike, is of the other memory.
  CHECK(holds(pareto({"--group", "hardware", "--dominates", "2"}).out, "Nothing dominates"));
  rows(57.3);
  CHECK(pareto({"--group", "hardware"}).code == 2);
}

TEST_CASE("pareto writes pareto.csv, and answers 1 when nothing qualifies") {
  const Scratch scratch;
  const std::string folder = sweep(scratch), file = scratch.path("pareto.csv");
  CHECK(run_program(
            {"pareto", folder, "--max", "output_tokens_per_joule", "--min", "ttft.p99", "--format", "csv", "-o", file})
            .code == 0);
  CHECK(scratch.content("pareto.csv").starts_with("group,point,id,hardware,workload.rate,"));
  const Ran ran = run_program(
      {"pareto", folder, "--max", "output_tokens_per_joule", "--min", "ttft.p99", "--slo", "ttft.p99 < 1 ms"});
  CHECK(ran.code == 1);
  CHECK(ran.out.starts_with("No configuration qualifies.\n"));
}

TEST_CASE("pareto says who dominates a point, by number or label") {
  const Scratch scratch;
  const std::string folder = sweep(scratch);
  for (const char* name : {"1", "#1", "hardware=l4 rate=8 /s"}) {
    const Ran ran =
        run_program({"pareto", folder, "--objectives", "output_tokens_per_joule,ttft.p99", "--dominates", name});
    CHECK(ran.code == 0);
    CHECK(ran.out.starts_with("1 dominates hardware=l4 rate=8 /s:\n"));
  }
}

TEST_CASE("a condition on what no result has, or on a word that an axis never is, is told") {
  const Scratch scratch;
  const std::string folder = sweep(scratch);
  const auto asked = [&](const char* option, const char* text) {
    return run_program({"pareto", folder, "--objectives", "output_tokens_per_joule,ttft.p99", option, text});
  };
  const Ran priced = asked("--slo", "cost_per_million_output_tokens <= 1");
  CHECK(priced.code == 2);
  CHECK(holds(priced.err, "no result has 'cost_per_million_output_tokens'"));
  const Ran misspelt = asked("--where", "hardware != l44");
  CHECK(misspelt.code == 0);
  CHECK(holds(misspelt.err, "warning: 'hardware' never is 'l44' in these results"));
  CHECK(holds(misspelt.err, "l4"));
  CHECK(asked("--where", "hardware != l4").err.empty());
}

TEST_CASE("names are no numbers: an order of them is refused, and so is their arithmetic") {
  const Scratch scratch;
  const std::string folder = sweep(scratch);
  for (const auto& [option, text] :
       {std::pair("--slo", "hardware<=3"), std::pair("--where", "hardware <= 3"),
        std::pair("--where", "rate > 1 and verdict < 2"), std::pair("--slo", "hardware + 1 == 2")}) {
    const Ran ran = run_program({"pareto", folder, "--objectives", "output_tokens_per_joule,ttft.p99", option, text});
    CHECK(ran.code == 2);
    CHECK(holds(ran.err, "is text, and '"));
  }
  const Ran objective = run_program({"pareto", folder, "--max", "hardware", "--min", "ttft.p99"});
  CHECK(objective.code == 2);
  CHECK(holds(objective.err, "--max:1:1: error: 'hardware' is text: it is neither large nor small"));
}

TEST_CASE("every mistake on the line of pareto is reported at once") {
  const Scratch scratch;
  const Ran ran = run_program({"pareto", sweep(scratch), "--max", "output_token_per_joule", "--min", "ttft.p99",
                               "--slo", "ttft.p9 <", "--where", "rat > 1", "--group", "hardwear", "--epsilon", "2",
                               "--label", "rte", "--reference", "e2e.p99=1 s"});
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  for (const char* part :
       {"--max:1:1: error: 'output_token_per_joule' is neither", "did you mean 'output_tokens_per_joule'?",
        "--slo:1:10: error: a value is missing here", "--where:1:1: error: 'rat'", "did you mean 'rate'?",
        "--group:1:1: error: 'hardwear'", "--epsilon:1:1: error: an epsilon is a share",
        "--label:1:1: error: there is no", "--reference:1:1: error: 'e2e.p99' is none of the objectives"})
    CHECK_MESSAGE(holds(ran.err, part), part << "\n" << ran.err);
  const Ran unknown =
      run_program({"pareto", scratch.path(""), "--objectives", "ttft.p99,goodput_rps", "--dominates", "9"});
  CHECK(unknown.code == 2);
  CHECK(holds(unknown.err, "'9' is neither a point nor a label"));
  CHECK(run_program({"pareto", scratch.path(""), "--min", "ttft.p99"}).code == 2);
  CHECK(run_program({"pareto", scratch.path("none"), "--min", "ttft.p99"}).code == 2);
}

}  // namespace llmscape::test::pareto_test
