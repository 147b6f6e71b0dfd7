// SPDX-License-Identifier: Apache-2.0
#include "sim/result/result_json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <stdexcept>

namespace llmscape::result {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a part that was not computed is absent, not zero") {
  const std::string empty = to_json({});
  for (const char* key : {"ttft_s", "throughput", "goodput_rps", "energy", "provenance"})
    CHECK_FALSE(holds(empty, key));
  RunResult result;
  result.latency.set("ttft_s", Percentiles{1, 0.5, 0, 0.5, 0.5, 0.5, 0.5, 0.5, true});
  result.window_s = 2;
  result.steps = 1;
  const std::string text = to_json(result);
  CHECK(holds(text, "\"mean\": 0.5"));
  CHECK(holds(text, "\"requests_per_s\": 0.0"));
  CHECK(holds(text, "provenance"));
  CHECK_FALSE(holds(text, "goodput_rps"));
}

TEST_CASE("time that rests on figures fitted end to end is told where there is some") {
  RunResult result;
  result.steps = 1;
  result.provenance[static_cast<std::size_t>(Tag::fitted)] = 1;
  CHECK_FALSE(nlohmann::json::parse(to_json(result))["provenance"].contains("fitted end to end"));
  result.provenance[static_cast<std::size_t>(Tag::fitted_end_to_end)] = 0.25;
  CHECK(nlohmann::json::parse(to_json(result))["provenance"]["fitted end to end"] == 0.25);
}

TEST_CASE("what each group of devices spent, did and cost stands under its name") {
  RunResult result;
  EnergyResult energy;
  energy.by_group = {{"edge", {{"memory", 3}, {"static", 1}}}};
  result.energy = energy;
  result.utilisation = {{"edge", 0.5, {{"memory", 0.25, 0.5}}}};
  CostResult cost;
  cost.currency = "EUR";
  cost.by_kind = {{"rent", 2}};
  cost.total = 2;
  result.cost = cost;
  result.area = AreaResult{800, 0.5};
  const auto json = nlohmann::json::parse(to_json(result));
  CHECK(json["energy"]["by_group"]["edge"]["memory"] == 3);
  CHECK(json["utilisation"] ==
        nlohmann::json::parse(R"({"edge": {"busy": 0.5, "memory": 0.25, "of_busy": {"memory": 0.5}}})"));
  CHECK(json["cost"] == nlohmann::json::parse(R"({"currency": "EUR", "total_cost": 2.0, "by_kind": {"rent": 2.0}})"));
  CHECK(json["area"]["die_area_mm2"] == 800);
}

TEST_CASE("NaN and infinity never leave") {
  RunResult result;
  result.window_s = 1;
  result.throughput.goodput_rps = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(to_json(result), "the result '/throughput/goodput_rps' is not a finite number",
                       std::logic_error);
  result.throughput.goodput_rps = 1;
  result.simulated_s = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(to_json(result), std::logic_error);
}

}  // namespace llmscape::result
