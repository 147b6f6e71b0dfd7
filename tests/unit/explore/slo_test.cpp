// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/slo.hpp"

#include <doctest/doctest.h>

#include "sim/explore/tried_value.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/explore/rows.hpp"

using namespace llmscape;
using namespace llmscape::explore;
using namespace llmscape::explore::test;
using llmscape::testing::approx;

namespace {

std::vector<Limit> limits(const std::string& text) {
  Diagnostics diagnostics;
  auto read = read_slo(text, "--slo", {}, diagnostics);
  CHECK_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  return read;
}

std::string slo_mistakes(const std::string& text) {
  Diagnostics diagnostics;
  CHECK(read_slo(text, "--slo", {}, diagnostics).empty());
  return diagnostics.text(false);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<SearchRun> runs_with_ttft(const std::vector<double>& seconds) {
  std::vector<SearchRun> runs;
  for (const double ttft : seconds) runs.push_back({row(0, {}, {{"ttft.p99", ttft}}), ""});
  return runs;
}

}  // namespace

TEST_CASE("an SLO is comparisons between commas, and its margins are in the unit of their sides") {
  const auto read = limits("ttft.p99<=200ms, 2 * tpot.p99 < 0.1 s,goodput_rps >= 5 /s");
  REQUIRE(read.size() == 3);
  CHECK(read[0].text == "ttft.p99 <= 200ms");
  CHECK(read[1].strict);
  CHECK_FALSE(read[2].at_most);
  CHECK(margin(read[0], {0.15, 0.2}) == approx(0.05));
  CHECK(margin(read[2], {7, 5}) == 2);
  CHECK(keeps(read[0], 0, 0.2));
  CHECK_FALSE(keeps(read[1], 0, 0.1));
  // 0.3 - 0.1 is 0.2 less 2.8e-17, and 0.1 + 0.2 is 0.3 and 5.6e-17 more: equal, either way.
  CHECK(keeps(read[0], 0.3 - (0.1 + 0.2), 0.3));
  CHECK_FALSE(keeps(read[1], 0.2 - (0.3 - 0.1), 0.2));
  CHECK_FALSE(keeps(read[0], -1e-8, 0.2));
}

TEST_CASE("what is no comparison and names that no run has are reported, all of them, where they stand") {
  const std::string said = slo_mistakes("ttft.p98<=200ms, tpot.p99, e2e.p99 <= 1 s <= 2 s");
  CHECK(holds(said, "--slo:1:1: error: 'ttft.p98' is neither a metric nor an axis"));
  CHECK(holds(said, "did you mean 'ttft.p9"));
  CHECK(holds(said, "'tpot.p99' is no limit"));
  CHECK(holds(said, "'e2e.p99 <= 1 s <= 2 s' is no limit"));
}

TEST_CASE("a limit in no unit or in a foreign one is a mistake: 200 is not 200 ms") {
  CHECK(holds(slo_mistakes("tpot.p99 <= 50 ms, ttft.p99<=200"),
              "--slo:1:30: error: '200' needs a unit, for example 200 ms; 'ttft.p99' is in units of time"));
  CHECK(holds(slo_mistakes("ttft_s.p99<=200 J"), "'200 J' has a unit of energy where time is due"));
  CHECK(holds(slo_mistakes("output_tokens_per_s>=100 ms"), "'100 ms' has a unit of time where rate is due"));
  CHECK(holds(slo_mistakes("mean_w<=500"), "'500' needs a unit"));
  CHECK(holds(slo_mistakes("slo_attainment>=99"), "did you mean '99 %'?"));
  CHECK(limits("slo_attainment>=99%, output_tokens_per_joule >= 2, blocks > 10, ttft.p50 > 0").size() == 4);
}

// The name of a time says none (seconds and milliseconds are confused); that of a rate says it in full.
TEST_CASE("a rate is compared in its unit or in none, as its name says it: both are the same limit") {
  const auto bare = limits("output_tokens_per_s>=1000"), full = limits("output_tokens_per_s >= 1000 /s");
  REQUIRE(bare.size() == 1);
  REQUIRE(full.size() == 1);
  ResultsTable table;
  Configuration configuration;
  configuration.metrics.resize(metrics::columns().size());
  configuration.metrics[place_of("output_tokens_per_s")] = {990, 990, 990};
  for (const auto& limit : {bare.front(), full.front()}) {
    const auto sides = sides_of(limit, table, configuration);
    REQUIRE(sides);
    CHECK(sides->right == 1000);
    CHECK(margin(limit, *sides) == -10);
  }
  CHECK(limits("requests_per_s > 2 /min, goodput_rps >= 5").size() == 2);
}

TEST_CASE("a limit that begins with its constant is turned round: what is measured is what is told") {
  for (const auto& [typed, turned] : {std::pair("0.2 s >= ttft.p99", "ttft.p99 <= 0.2 s"),
                                      {"0.2 s>ttft.p99", "ttft.p99 < 0.2 s"},
                                      {"5 <= goodput_rps", "goodput_rps >= 5"},
                                      {"2*tpot.mean < ttft.p50", "2*tpot.mean < ttft.p50"}}) {
    const Limit limit = limits(typed)[0];
    CHECK(limit.text == turned);
    CHECK(limit.at_most == (limit.text.find('<') != std::string::npos));
    CHECK(limit.strict == (limit.text.find('=') == std::string::npos));
  }
  const auto judged = judge({limits("0.2 s >= ttft.p99"), 1, false}, {}, runs_with_ttft({0.18}));
  REQUIRE(judged);
  CHECK(judged->standing == Standing::met);
  CHECK(judged->sides[0]->value == 0.18);
}

TEST_CASE("an axis is compared in the unit that all of its values have") {
  ResultsTable table;
  table.axes = {"workload.arrivals.rate", "devices[0].count", "batcher"};
  table.rows = {row(0, {"8 /s", "1", "4"}, {}), row(1, {"480 /min", "2", "auto"}, {})};
  const auto mistakes_in = [&](const std::string& text) {
    Diagnostics diagnostics;
    const auto condition = Expression::parse(text, {}, diagnostics);
    REQUIRE(condition);
    check_units(*condition, table, diagnostics);
    return diagnostics.text(false);
  };
  CHECK(holds(mistakes_in("rate > 4 and count == 1"), "'4' needs a unit, for example 4 /s or 4 /h"));
  CHECK(holds(mistakes_in("count < 2 W"), "'2 W' has a unit of power where a plain number is due"));
  CHECK(mistakes_in("rate > 4 /s and count == 1 and batcher == 4").empty());
}

TEST_CASE("every metric whose file has a unit is compared in it") {
  for (const metrics::Column& column : metrics::columns()) {
    const std::string_view unit = column.metric->unit;
    CHECK_MESSAGE(unit_of_metric(column.name).has_value() == (unit != "g" && unit != "1/s/mm2"), column.name);
  }
}

TEST_CASE(
    "one run decides far from a limit; near it the interval of the mean over three seeds or more must be clear of it") {
  const Question question{limits("ttft.p99 <= 100 ms"), 4, false};
  const auto standing = [&](const std::vector<double>& ttft) -> std::string {
    const auto judged = judge(question, {}, runs_with_ttft(ttft));
    if (!judged) return "more";
    return std::string(judged->standing == Standing::met ? "met" : "failed") + (judged->clear ? "" : "?") + " in " +
           std::to_string(judged->runs.size());
  };
  CHECK(standing({0.08}) == "met in 1");
  CHECK(standing({0.12}) == "failed in 1");
  CHECK(standing({0.095}) == "more");
  CHECK(standing({0.095, 0.0951}) == "more");              // two may agree by chance
  CHECK(standing({0.095, 0.0951, 0.0952}) == "met in 3");  // half-width 4.3 * 0.1 ms / sqrt(3) = 0.25 ms
  CHECK(standing({0.105, 0.1051, 0.1052, 0.01}) == "failed in 3");
  CHECK(standing({0.095, 0.103, 0.09}) == "more");  // half-width 4.3 * 6.6 ms / sqrt(3)
  CHECK(standing({0.095, 0.103, 0.095, 0.103}) == "met? in 4");
  CHECK(standing({0.099, 0.105, 0.099, 0.105}) == "failed? in 4");
}

TEST_CASE("noisy runs are judged by several seeds, by the mean in the end, and truncated ones are not") {
  const Question question{limits("ttft.p99 <= 100 ms"), 4, false};
  const auto standing = [&](const std::vector<double>& ttft, const std::string& last = "noisy") -> std::string {
    auto runs = runs_with_ttft(ttft);
    for (SearchRun& run : runs) run.row.verdict = "noisy";
    runs.back().row.verdict = last;
    const auto judged = judge(question, {}, runs);
    if (!judged) return "more";
    return std::string(judged->standing == Standing::met ? "met" : "failed") + (judged->clear ? "" : "?") + " in " +
           std::to_string(judged->runs.size());
  };
  CHECK(standing({0.05}) == "more");  // of a valid run that would do
  CHECK(standing({0.05, 0.06}) == "more");
  CHECK(standing({0.05, 0.06, 0.055}) == "met in 3");
  CHECK(standing({0.2, 0.21, 0.19}) == "failed in 3");
  CHECK(standing({0.05, 0.09, 0.2, 0.05}) == "met? in 4");  // mean 97.5 ms
  CHECK(standing({0.05, 0.06}, "saturated") == "more");
  CHECK(standing({0.05, 0.06, 0.055}, "unsteady") == "met in 3");
  CHECK(standing({0.05, 0.06}, "truncated") == "failed in 2");
}

TEST_CASE("runs that drift fail a value where they are half of all seeds or more, or where they miss a limit anyway") {
  const auto standing = [](std::size_t repeat, const std::string& kinds, double ttft = 0.05) -> std::string {
    auto runs = runs_with_ttft(std::vector<double>(kinds.size(), ttft));
    for (std::size_t i = 0; i < kinds.size(); ++i)
      if (kinds[i] == 'u') runs[i] = {runs[i].row, "tasks rose"}, runs[i].row.verdict = "unsteady";
    const auto judged = judge({limits("ttft.p99 <= 100 ms"), repeat, false}, {}, runs);
    if (!judged) return "more";
    return (judged->standing == Standing::met ? "met in " : "failed in ") + std::to_string(judged->runs.size()) +
           (judged->why.empty() ? "" : ": " + judged->why);
  };
  CHECK(standing(1, "u") == "failed in 1: unsteady: tasks rose");
  CHECK(standing(5, "u") == "more");
  CHECK(standing(5, "uv") == "more");
  CHECK(standing(5, "uvv") == "met in 3");  // 1 of 3
  CHECK(standing(5, "uuvvv") == "met in 5");
  CHECK(standing(5, "uvuuv") == "failed in 4: unsteady with 3 of 4 seeds: tasks rose");  // 3 of 5, whatever comes
  CHECK(standing(20, "uvuuvvv") == "met in 7");
  CHECK(standing(5, "uuu") == "failed in 3: unsteady: tasks rose");
  CHECK(standing(5, "u", 0.3) == "failed in 1: unsteady: tasks rose");
}

TEST_CASE("noisy runs do not meet an SLO where fewer seeds are allowed than decide") {
  auto runs = runs_with_ttft({0.05, 0.05, 0.05});
  for (SearchRun& run : runs) run = {run.row, "50 calls"};
  for (SearchRun& run : runs) run.row.verdict = "noisy";
  for (const auto repeat : {std::size_t{1}, std::size_t{2}}) {
    Question question{limits("ttft.p99 <= 100 ms"), repeat, false};
    const auto judged = judge(question, {}, runs);
    REQUIRE(judged);
    CHECK(judged->standing == Standing::failed);
    CHECK(judged->runs.size() == repeat);
    CHECK(judged->why == "noisy: 50 calls; 3 seeds or more decide (--repeat)");
    question.include_invalid = true;
    CHECK(judge(question, {}, runs)->standing == Standing::met);
  }
  CHECK(judge({limits("ttft.p99 <= 100 ms"), 3, false}, {}, runs)->standing == Standing::met);
  runs[0] = runs_with_ttft({0.3})[0];
  runs[0].row.verdict = "noisy";
  CHECK(judge({limits("ttft.p99 <= 100 ms"), 1, false}, {}, runs)->why == "ttft.p99 <= 100 ms");
}

TEST_CASE("a run whose verdict is not valid does not meet an SLO, unless invalid runs count") {
  Question question{limits("ttft.p99 <= 100 ms"), 1, false};
  auto runs = runs_with_ttft({0.01});
  runs[0].row.verdict = "saturated";
  runs[0].reason = "the queue grew";
  CHECK(judge(question, {}, runs)->standing == Standing::failed);
  CHECK(judge(question, {}, runs)->why == "saturated: the queue grew");
  question.include_invalid = true;
  CHECK(judge(question, {}, runs)->standing == Standing::met);
}

TEST_CASE("a value fails for the limit that it surely misses, also where another is near") {
  const Question question{limits("ttft.p99 <= 100 ms, e2e.p99 <= 1 s"), 4, false};
  std::vector<SearchRun> runs = {{row(0, {}, {{"ttft.p99", 0.101}, {"e2e.p99", 3}}), ""}};
  const auto judged = judge(question, {}, runs);
  REQUIRE(judged);
  CHECK(judged->why == "e2e.p99 <= 1 s");
  CHECK(judged->clear);
}

TEST_CASE("calls that were turned away meet no limit on what the others saw, unless the SLO says how many may be") {
  const auto standing = [](const std::string& slo, double lost) {
    const std::vector<SearchRun> runs = {
        {row(0, {}, {{"ttft.p99", 0.01}, {"lost_share", lost}, {"slo_attainment", 0.6}}), ""}};
    const auto judged = judge({limits(slo), 1, false}, {}, runs);
    REQUIRE(judged);
    return std::pair(judged->standing == Standing::met, judged->why);
  };
  CHECK(standing("ttft.p99 <= 100 ms", 0.01).first);
  CHECK_FALSE(standing("ttft.p99 <= 100 ms", 0.4).first);
  CHECK(holds(standing("ttft.p99 <= 100 ms", 0.4).second, "40.0 % of the calls were dropped, timed out or failed"));
  CHECK(standing("ttft.p99 <= 100 ms, lost_share <= 50 %", 0.4).first);
  CHECK(standing("slo_attainment >= 50 %", 0.4).first);
}

TEST_CASE("of several seeds the mean of what was lost counts: one that lost 1.05 % is no veto") {
  const Question question{limits("ttft.p99 <= 100 ms"), 3, false};
  const auto with = [](double lost) { return SearchRun{row(0, {}, {{"ttft.p99", 0.01}, {"lost_share", lost}}), ""}; };
  const auto judged = judge(question, {}, {with(0.0105), with(0), with(0.003)});  // mean 0.45 %
  REQUIRE(judged);
  CHECK(judged->standing == Standing::met);
  CHECK_FALSE(judged->clear);  // half-width 4.3 * 0.54 % / sqrt(3)
}
