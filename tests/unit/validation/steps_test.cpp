// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/steps.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "sim/validation/report.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::validation;
using llmscape::testing::approx;

namespace {

// A second for each prompt token, a tenth for each context token that a decode reads.
class Counting : public engine::EngineModel {
 public:
  engine::EngineCost step(const models::Batch& batch) override {
    engine::EngineCost cost;
    cost.device = Seconds(static_cast<double>(batch.prefill_tokens()));
    for (const models::Attended& attended : batch.attended)
      cost.device += Seconds(0.1 * static_cast<double>(attended.sum));
    return cost;
  }
};

traces::EngineStep step(std::vector<models::PrefillChunk> chunks, std::vector<std::int64_t> decodes, double device) {
  traces::EngineStep s;
  s.chunks = std::move(chunks);
  s.decodes = std::move(decodes);
  s.device_s = device;
  return s;
}

traces::EngineRecord three_steps() {
  traces::EngineRecord record;
  record.steps = {step({{8, 0, true}}, {}, 10), step({}, {10, 30}, 4), step({{2, 0, false}}, {20}, 4)};
  return record;
}

}  // namespace

TEST_CASE("each recorded step is priced from what it computed, and told apart by its kind") {
  Counting model;
  const auto all = compare_steps(three_steps(), model, {0});
  REQUIRE(all.size() == 4);
  CHECK(all[0].metric == "step");
  CHECK(all[0].count == 3);
  CHECK(*all[0].error_mean == approx(0.2 / 3));  // 8 for 10, 4 for 4, 2 + 2 for 4
  CHECK(all[1].metric == "decode step");
  CHECK(*all[1].error_median == 0);
  CHECK(all[2].metric == "prefill step");
  CHECK(*all[2].bias == approx(-0.2));
  CHECK(all[3].metric == "mixed step");
  CHECK(*all[3].error_median == 0);
}

TEST_CASE("a window cuts what decodes attend to") {
  Counting model;
  const auto all = compare_steps(three_steps(), model, {0, 15});
  CHECK(all[1].statistics[0].predicted == approx(4 + 2.5));  // 10 + 30, and 10 + 15 in the window
}

TEST_CASE("a report says the same as text, Markdown and JSON") {
  Counting model;
  Report report;
  report.predicted = "device";
  report.measured = "engine.json";
  report.comparisons = compare_steps(three_steps(), model, {0});
  report.courses = {{"running", 3, 1.5, 10, 11, -2, 7}};
  std::string problem;
  report.verdicts = {judge(*parse_limit("step.error_mean=5%", problem), report.comparisons, report.courses)};
  for (const std::string& text : {to_text(report), to_markdown(report)}) {
    CAPTURE(text);
    for (const char* part :
         {"decode step", "-20.0 %", "6.67 %", "NO", "running", "step 0: 8 prompt tokens in 1 chunks"})
      CHECK(text.find(part) != std::string::npos);
  }
  const auto json = nlohmann::json::parse(to_json(report));
  CHECK(json["schema"] == "validation/1");
  CHECK(json["comparisons"][2]["bias"].get<double>() == approx(-0.2));
  CHECK(json["over_time"][0]["rmse"] == 1.5);
  CHECK(json["limits"][0]["met"] == false);
}
