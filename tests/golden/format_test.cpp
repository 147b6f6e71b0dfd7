// SPDX-License-Identifier: Apache-2.0
// One whole result: the format of run.json. This is the golden that moves when a metric is added; those of the examples
// hold what a reader looks at, whatever else there is (examples_test.cpp).
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "sim/result/metric_table.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/golden/golden_file.hpp"
#include "tests/support/run_program.hpp"

TEST_CASE("tests/golden/format/run.json is one whole result, and most of what there is to say is in it") {
  const llmscape::test::Scratch scratch;
  const auto ran = llmscape::test::run_program(
      {"run", "tests/golden/format/scenario.yaml", "--intervals", "-j", "1", "-o", scratch.path("out"), "--quiet"},
      120);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const std::string text = scratch.content("out/run.json");
  llmscape::test::check_golden("tests/golden/format/run.json", text);
  const auto run = nlohmann::json::parse(text);
  for (const char* part : {"kv_tiers", "pools", "fleet", "links", "retrieval", "intervals", "overall", "warnings"})
    CHECK_MESSAGE(run.contains(part), part);
  // Prompts in versions, pipelines that streams share, drafts of a user's device and models that take turns do not go
  // with what else is here.
  const std::set<std::string> kAbsent = {"context_ttft_s", "bubble_s",    "invalidated",
                                         "late_share",     "model_loads", "model_load_s"};
  for (const llmscape::metrics::Metric& metric : llmscape::metrics::metrics()) {
    std::string place = metric.section.empty() ? "" : '/' + std::string(metric.section);
    place += '/' + std::string(metric.key);
    CHECK_MESSAGE(run.contains(nlohmann::json::json_pointer(place)) != kAbsent.contains(std::string(metric.key)),
                  place);
  }
}
