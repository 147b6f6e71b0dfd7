// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/objective.hpp"

#include <doctest/doctest.h>

#include "tests/support/approx.hpp"
#include "tests/unit/explore/rows.hpp"

using namespace llmscape;
using namespace llmscape::explore;
using namespace llmscape::explore::test;
using llmscape::testing::approx;

namespace {

const ResultsTable& table() {
  static const ResultsTable made = [] {
    ResultsTable results;
    results.axes = {"workload.rate"};
    results.rows = {row(0, {"8 /s"}, {{"tpot.mean", 0.02}, {"ttft.p99", 0.3}})};
    results.rows[0].metrics[place_of("tpot.mean")] = Estimate{0.02, 0.01, 0.05};
    return results;
  }();
  return made;
}

std::vector<Objective> read(const std::string& text, Direction direction) {
  Diagnostics diagnostics;
  auto objectives = read_objectives(text, direction, "--max", table(), diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  return objectives;
}

std::vector<std::string> refused(const std::string& text, Direction direction) {
  Diagnostics diagnostics;
  read_objectives(text, direction, "--max", table(), diagnostics);
  std::vector<std::string> said;
  for (const Diagnostic& d : diagnostics.sorted())
    said.push_back(place_of(d.where) + ':' + std::to_string(d.where.column) + ' ' + d.message + ' ' + d.suggestion);
  return said;
}

}  // namespace

TEST_CASE("a list of objectives is metrics, axes and named expressions") {
  const auto objectives = read("ttft.p99, rate,per_user=1/tpot.mean,ttft.p99/(rate,true)", Direction::maximize);
  REQUIRE(objectives.size() == 4);
  CHECK(objectives[0].name == "ttft.p99");
  CHECK(objectives[0].unit == "s");
  CHECK(objectives[1].name == "rate");
  CHECK(objectives[2].name == "per_user");
  CHECK(objectives[2].maximize);
  CHECK(objectives[2].loss(3) == -3);
  CHECK(objectives[3].name == "ttft.p99/(rate,true)");
}

TEST_CASE("a metric that is named alone goes where it is better") {
  const auto objectives = read("output_tokens_per_joule,ttft.p99", Direction::of_metric);
  REQUIRE(objectives.size() == 2);
  CHECK(objectives[0].maximize);
  CHECK_FALSE(objectives[1].maximize);
  CHECK(refused("blocks", Direction::of_metric) ==
        std::vector<std::string>{"--max:1:1 'blocks' has no better direction of its own say --max or --min"});
}

TEST_CASE("every unknown name of a list is reported where it stands") {
  CHECK(refused("ttft.maen,steps,x=1/ttpot.mean", Direction::minimize) ==
        std::vector<std::string>{
            "--max:1:1 'ttft.maen' is neither a metric nor an axis of these results did you mean 'ttft.mean'?",
            "--max:1:21 'ttpot.mean' is neither a metric nor an axis of these results did you mean 'tpot.mean'?"});
  CHECK(refused("ttft.p99,,steps", Direction::minimize).size() == 1);
}

TEST_CASE("an objective adds what has the same unit") {
  CHECK(refused("a=output_tokens_per_s+mean_w", Direction::maximize).size() == 1);
  CHECK(refused("ttft.p99+tpot.mean", Direction::minimize).empty());
  CHECK(refused("output_tokens_per_s/mean_w", Direction::maximize).empty());
}

TEST_CASE("the value of an objective has the interval of the metrics in it") {
  const auto configuration = configurations(table())[0];
  const auto value = [&](const char* text) {
    return estimate_of(read(text, Direction::maximize)[0], table(), configuration).value();
  };
  const Estimate per_user = value("1/tpot.mean");
  CHECK(per_user.value == approx(50));
  CHECK(per_user.low == approx(20));
  CHECK(per_user.high == approx(100));
  CHECK(value("rate*2") == Estimate{16, 16, 16});
  CHECK_FALSE(estimate_of(read("e2e.p99", Direction::minimize)[0], table(), configuration));
}

TEST_CASE("the presets can be read from any results") {
  for (const ObjectivePreset& preset : objective_presets()) {
    std::size_t count = 0;
    if (!preset.maximize.empty()) count += read(preset.maximize, Direction::maximize).size();
    if (!preset.minimize.empty()) count += read(preset.minimize, Direction::minimize).size();
    CHECK(count == 2);
  }
}
