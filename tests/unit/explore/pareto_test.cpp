// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/pareto.hpp"

#include <doctest/doctest.h>

#include "tests/unit/explore/rows.hpp"

using namespace llmscape;
using namespace llmscape::explore;
using namespace llmscape::explore::test;

namespace {

struct Run {
  std::string hardware;
  double tokens_per_joule, ttft;
};

// One run for each, with its number as the axis "n".
ResultsTable table_of(const std::vector<Run>& runs) {
  ResultsTable table;
  table.axes = {"hardware", "n"};
  for (const Run& run : runs)
    table.rows.push_back(row(table.rows.size(), {run.hardware, std::to_string(table.rows.size())},
                             {{"output_tokens_per_joule", run.tokens_per_joule}, {"ttft.p99", run.ttft}}));
  return table;
}

Expression expression(const std::string& text) {
  Diagnostics diagnostics;
  return Expression::parse(text, {}, diagnostics).value();
}

// Tokens of a joule against time to first token.
ParetoQuery query_of(const ResultsTable& table) {
  Diagnostics diagnostics;
  ParetoQuery query;
  query.objectives = read_objectives("output_tokens_per_joule,ttft.p99", Direction::of_metric, "", table, diagnostics);
  return query;
}

using Places = std::vector<std::size_t>;

// The numbers of the runs behind points.
Places runs(const ParetoAnswer& answer, const Places& points) {
  Places places;
  for (const std::size_t point : points) places.push_back(answer.points[point].configuration);
  return places;
}

}  // namespace

TEST_CASE("a frontier begins with the best of the first objective, and has its knee and its share of the box") {
  const ResultsTable table = table_of({{"a", 1, 1}, {"a", 4, 5}, {"a", 3, 2}, {"a", 2, 3}, {"a", 0, 9}});
  const ParetoAnswer answer = pareto(table, query_of(table));
  REQUIRE(answer.groups.size() == 1);
  const Frontier& frontier = answer.groups[0];
  CHECK(runs(answer, frontier.points) == Places{1, 2, 0});
  CHECK(frontier.knee == 2);
  CHECK(frontier.qualified == 5);
  CHECK(answer.best == std::vector<double>{4, 1});
  CHECK(answer.reference == std::vector<double>{0, 9});
  // Boxes up to 0 tokens/J and 9 s: 4 x 4, then 3 x (5 - 2), then 1 x (2 - 1), of 4 x 8.
  CHECK(frontier.hypervolume == 16 + 9 + 1);
  CHECK(frontier.share == 26. / 32);
}

TEST_CASE("what differs in the last bits alone is equal: it stands on no frontier that it does not belong to") {
  // The same time to first token, summed in another order; then one that differs in the ninth digit.
  const ResultsTable table = table_of({{"a", 1, 0.3}, {"a", 2, 0.1 + 0.2}, {"a", 1.5, 0.3 * (1 - 1e-15)}});
  REQUIRE(0.3 < 0.1 + 0.2);
  CHECK(runs(pareto(table, query_of(table)), pareto(table, query_of(table)).groups[0].points) == Places{1});
  const ResultsTable apart = table_of({{"a", 1, 0.3}, {"a", 2, 0.3 * (1 + 3e-9)}});
  CHECK(runs(pareto(apart, query_of(apart)), pareto(apart, query_of(apart)).groups[0].points) == Places{1, 0});
}

TEST_CASE("a reference that is given replaces the worst, by objective") {
  const ResultsTable table = table_of({{"a", 2, 1}, {"a", 1, 0.5}});
  ParetoQuery query = query_of(table);
  query.reference = {0, std::nullopt};
  const ParetoAnswer answer = pareto(table, query);
  CHECK(answer.reference == std::vector<double>{0, 1});
  CHECK(answer.groups[0].hypervolume == 0.5);  // 1 token/J wide, 0.5 s deep; the other lies on the edge
}

TEST_CASE("each group has a frontier, and the best of all stand out") {
  const ResultsTable table = table_of({{"gpu", 1, 1}, {"cim", 3, 2}, {"gpu", 2, 3}, {"cim", 2, 4}});
  ParetoQuery query = query_of(table);
  query.group = expression("hardware");
  const ParetoAnswer answer = pareto(table, query);
  REQUIRE(answer.groups.size() == 2);
  CHECK(answer.groups[0].name == "gpu");
  CHECK(runs(answer, answer.groups[0].points) == Places{2, 0});
  CHECK(runs(answer, answer.groups[1].points) == Places{1});
  CHECK(answer.points[0].best_of_all);
  CHECK(answer.points[1].best_of_all);
  CHECK_FALSE(answer.points[2].best_of_all);  // on the frontier of the GPUs alone
  query.group = expression("n < 2");
  CHECK(pareto(table, query).groups[1].name == "false");
}

TEST_CASE("what is not asked for, not valid, lacks an objective or misses the SLO is left out and counted, once each") {
  ResultsTable table = table_of({{"a", 1, 1}, {"a", 9, 9}, {"a", 9, 1}, {"a", 9, 1}, {"b", 9, 1}});
  table.rows[2].verdict = "saturated";
  table.rows[3].metrics[place_of("ttft.p99")].reset();
  ParetoQuery query = query_of(table);
  query.where = expression("hardware == a");
  query.slo = expression("ttft.p99 <= 2 s");
  ParetoAnswer answer = pareto(table, query);
  CHECK(runs(answer, answer.groups[0].points) == Places{0});
  CHECK(answer.left_out.where == 1);
  CHECK(answer.left_out.invalid == 1);
  CHECK(answer.left_out.lacking == Places{0, 1});
  CHECK(answer.left_out.slo == 1);
  query.include_invalid = true;
  answer = pareto(table, query);
  CHECK(answer.left_out.invalid == 0);
  CHECK(runs(answer, answer.groups[0].points) == Places{2});
}

TEST_CASE("what lies within epsilon of a frontier is a tie") {
  const ResultsTable table = table_of({{"a", 100, 1}, {"a", 99.5, 1.005}, {"a", 98, 1}, {"a", 50, 1}});
  ParetoQuery query = query_of(table);
  query.epsilon = 0.01;
  const ParetoAnswer answer = pareto(table, query);
  CHECK_FALSE(answer.points[0].tied);  // it is the frontier
  CHECK(answer.points[1].tied);
  CHECK_FALSE(answer.points[2].tied);  // 2 % fewer tokens
  query.epsilon = 0;
  CHECK_FALSE(pareto(table, query).points[1].tied);
}

TEST_CASE("points whose intervals overlap in every objective are not told apart") {
  ResultsTable table = table_of({{"a", 10, 1}, {"a", 9, 2}, {"a", 9.5, 3}});
  const auto widen = [&](std::size_t run, const char* metric, double low, double high) {
    Estimate& estimate = *table.rows[run].metrics[place_of(metric)];
    estimate.low = low;
    estimate.high = high;
  };
  widen(0, "output_tokens_per_joule", 8, 12);
  widen(2, "output_tokens_per_joule", 7, 12);
  CHECK(pareto(table, query_of(table)).points[1].alike.empty());  // told apart by their times
  widen(0, "ttft.p99", 0.5, 2);
  const ParetoAnswer answer = pareto(table, query_of(table));
  CHECK(answer.points[1].alike == Places{0});
  CHECK(answer.points[2].alike.empty());
}

TEST_CASE("a sweep that nothing qualifies of has no frontier") {
  const ResultsTable table = table_of({{"a", 1, 1}});
  ParetoQuery query = query_of(table);
  query.slo = expression("ttft.p99 < 1 s");
  CHECK(pareto(table, query).groups.empty());
}

TEST_CASE("the points that dominate one are listed with their ratios, the best in front") {
  ResultsTable table = table_of({{"a", 2, 4}, {"a", 3, 2}, {"a", 8, 1}, {"a", 9, 5}, {"a", 2, 0}});
  table.rows[0].verdict = "saturated";  // the question can be about one that does not qualify
  const ParetoQuery query = query_of(table);
  const ParetoAnswer answer = pareto(table, query);
  const auto found = dominators(answer, query, table, 0);
  REQUIRE(found);
  REQUIRE(found->size() == 3);
  CHECK(answer.points[(*found)[0].point].configuration == 2);
  CHECK((*found)[0].ratios == std::vector<std::optional<double>>{4, 0.25});
  CHECK(answer.points[(*found)[1].point].configuration == 1);
  CHECK((*found)[2].ratios == std::vector<std::optional<double>>{1, 0});
  CHECK(dominators(answer, query, table, 4)->size() == 0);
}
