// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/explore/rows.hpp"
#include "tests/unit/report/question.hpp"

namespace winner_test {

using namespace llmscape;
using namespace llmscape::explore;
using namespace llmscape::explore::test;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Points of `a` and of `b` at rates from 1 /s on, as {first objective, ttft.p99}.
ResultsTable pairs(const char* metric, const std::vector<std::pair<double, double>>& a,
                   const std::vector<std::pair<double, double>>& b) {
  ResultsTable table;
  table.axes = {"hardware", "workload.rate"};
  for (const auto& [name, all] : {std::pair("a", a), std::pair("b", b)})
    for (std::size_t i = 0; i < all.size(); ++i)
      table.rows.push_back(row(table.rows.size(), {name, std::to_string(i + 1) + " /s"},
                               {{metric, all[i].first}, {"ttft.p99", all[i].second}}));
  return table;
}

std::string said(const ResultsTable& table, const char* objectives, const std::string& slo, const std::string& group) {
  return report::winner(report::Question(table, objectives, slo, group).view());
}

}  // namespace

// 0.61 USD of a million tokens of which 18 % were answers: 3.39 for those who got one.
TEST_CASE("a winner whose tokens were for nobody is told so, where these count") {
  const auto best = [](const char* metric) {
    ResultsTable table = pairs(metric, {{0.61, 0.1}}, {{4, 0.2}});
    table.rows[0].metrics[place_of("answered_share")] = Estimate{0.18, 0.18, 0.18};
    return said(table, (std::string(metric) + ",ttft.p99").c_str(), "", "");
  };
  CHECK(has(best("cost_per_million_output_tokens"), "(82.0 % of its tokens were in no answer)"));
  CHECK_FALSE(has(best("cost_per_million_answered_tokens"), "in no answer"));
  // By hand: 0.5 USD a million of which 80 % were in an answer, against 1 USD of which all, 18 % or 80 % were.
  const auto pair = [](double rival) {
    ResultsTable table = pairs("cost_per_million_output_tokens", {{0.5, 0.1}}, {{1, 0.1}});
    table.rows[0].metrics[place_of("answered_share")] = Estimate{0.8, 0.8, 0.8};
    table.rows[1].metrics[place_of("answered_share")] = Estimate{rival, rival, rival};
    return said(table, "cost_per_million_output_tokens,ttft.p99", "", "hardware");
  };
  CHECK(has(pair(1), "; 20.0 % and 0.0 % of their tokens were in no answer"));
  CHECK(has(pair(0.18), "; 20.0 % and 82.0 % of their tokens were in no answer"));
  CHECK(has(pair(0.8), "; 20.0 % of the tokens of both were in no answer"));
}

TEST_CASE("a bound is read however it is written, and told with all its digits") {
  // By hand: a is best with 4.6 at 150 ms; b goes from 1 at 100 ms to 2 at 300 ms, 1.5 at 200 ms: 3.07.
  const ResultsTable table = pairs("output_tokens_per_joule", {{4.6, 0.15}, {5, 0.5}}, {{1, 0.1}, {2, 0.3}});
  const char* const objectives = "output_tokens_per_joule,ttft.p99";
  for (const char* slo : {"ttft.p99 <= 2e-1 s", "ttft.p99 < 200ms", "200 ms >= ttft.p99", "0.2 s>ttft_s.p99"})
    CHECK(
        has(said(table, objectives, slo, "hardware"),
            "at 3.07x the output tokens/joule of b (4.60 instead of 1.50, read off its frontier at ttft p99 200 ms)"));
  CHECK(has(said(table, objectives, "ttft.p99<=203.4 ms", "hardware"), "at ttft p99 203.4 ms)"));
  // The other way round it limits nothing of the second objective: the best that meet it are compared, 5 / 2.
  CHECK(has(said(table, objectives, "200 ms <= ttft.p99", "hardware"), "at 2.5x the output tokens/joule"));
}

TEST_CASE("of equals in the first objective the winner is the one that none dominates") {
  // (10, 400 ms) and (10, 100 ms): the second. At 100 ms b gives 4: 10 / 4 = 2.5.
  const ResultsTable table =
      pairs("output_tokens_per_joule", {{10, 0.4}, {10, 0.1}, {8, 0.05}}, {{5, 0.2}, {4, 0.1}, {6, 0.6}});
  const char* const objectives = "output_tokens_per_joule,ttft.p99";
  CHECK(said(table, objectives, "", "hardware") ==
        "hardware=a rate=2 /s reaches ttft p99 100 ms at 2.5x the output tokens/joule of b (10.0 instead of 4.00, read "
        "off its frontier at ttft p99 100 ms)");
  CHECK(said(table, objectives, "ttft.p99<=500ms", "hardware").starts_with("hardware=a rate=2 /s meets"));
}

TEST_CASE("what is 0 is told as it is, large ratios without an exponent, and units stand behind") {
  CHECK(said(pairs("lost_share", {{0, 0.1}}, {{0.1, 0.1}}), "lost_share,ttft.p99", "ttft.p99<=150ms", "hardware") ==
        "hardware=a rate=1 /s meets ttft.p99<=150ms with at least 0x the lost share of b (0.0 % instead of 10.0 %, "
        "read off "
        "its frontier at ttft p99 150 ms: its last point is at 100 ms)");
  // 123,456 / 12.366...: b from 12.3 at 50 ms to 12.4 at 200 ms is 12.3667 at 150 ms.
  CHECK(has(said(pairs("output_tokens_per_s", {{123456, 0.1}}, {{12.3, 0.05}, {12.4, 0.2}}),
                 "output_tokens_per_s,ttft.p99", "ttft.p99<=150ms", "hardware"),
            "at 9,983x the output tokens/s of b"));
  CHECK(has(said(pairs("mean_w", {{300, 0.1}}, {{700, 0.1}}), "mean_w,ttft.p99", "", "hardware"),
            "(300 W instead of 700 W, "));
}

TEST_CASE("a frontier of one point is the best in all objectives, and bends nowhere") {
  const ResultsTable table = pairs("output_tokens_per_s", {{10, 0.1}, {9, 0.2}, {8, 0.3}}, {});
  CHECK(said(table, "output_tokens_per_s,ttft.p99", "", "") ==
        "hardware=a rate=1 /s is the best in all objectives: output tokens/s 10.0, ttft p99 100 ms");
  CHECK(said(pairs("mean_w", {{700, 0.1}}, {{300, 0.05}}), "mean_w,ttft.p99", "", "hardware") ==
        "hardware=b rate=1 /s is the best in all objectives: mean w 300 W, ttft p99 50.0 ms");
}

TEST_CASE("intervals overlap only where there are some") {
  // Both 2 without intervals.
  const ResultsTable table = pairs("output_tokens_per_joule", {{2, 0.1}}, {{2, 0.1}});
  CHECK(has(said(table, "output_tokens_per_joule,ttft.p99", "ttft.p99<=100ms", "hardware"), "at 1x the output"));
  CHECK_FALSE(has(said(table, "output_tokens_per_joule,ttft.p99", "ttft.p99<=100ms", "hardware"), "overlap"));
}

TEST_CASE("amounts have their currency, each configuration its own") {
  ResultsTable table = pairs("capital", {{30000, 0.1}, {20000, 0.2}}, {});
  for (ResultRow& row : table.rows) row.currency = "EUR";
  const report::Question euros(table, "capital,ttft.p99", "", "");
  CHECK(has(report::winner(euros.view()), "capital 20,000 EUR, ttft p99 200 ms"));
  CHECK(has(report::frontier_text(euros.view(), false), "20,000 EUR"));
  table.rows[1].currency = "JPY";
  const report::Question asked(table, "capital,ttft.p99", "", "");
  CHECK(has(report::winner(asked.view()),
            "currency=JPY: hardware=a rate=2 /s is the best in all objectives: capital 20,000 JPY,"));
  const std::string text = report::frontier_text(asked.view(), false);
  CHECK(has(text, " 30,000 EUR "));
  CHECK(has(text, " 20,000 JPY "));
}

TEST_CASE("a proposed --where is quoted so that it can be typed as it stands") {
  CHECK(report::in_condition("8b text") == "\"8b text\"");
  CHECK(report::in_condition("8") == "8");
  CHECK(report::in_condition("200 ms") == "200 ms");
  CHECK(report::in_condition("say \"a\"") == R"("say ""a""")");
  CHECK(report::in_shell("it's") == "it'\\''s");
}

}  // namespace winner_test
