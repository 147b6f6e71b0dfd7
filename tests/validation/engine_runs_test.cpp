// SPDX-License-Identifier: Apache-2.0
// Runs of the mini engine on a virtual machine, against the catalogue's device, which is fitted to kernels that were
// timed there in the same minutes (cpu_calibration_test.cpp). No constant comes from the runs.
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "models/step_work.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/validation/replay.hpp"
#include "sim/validation/requests.hpp"
#include "sim/validation/step_table.hpp"
#include "sim/validation/steps.hpp"

using namespace llmscape;

namespace {

const std::string kFolder = "traces/measured/epyc-zen4-vm-2026-11-21-engine/";

YamlNode device() {
  YamlNode preset = YamlNode::mapping({});
  preset.set("preset", YamlNode::scalar("cpu-epyc-vm"));
  return preset;
}

traces::EngineRecord recorded(const std::string& model, Diagnostics& diagnostics) {
  auto record = traces::read_engine_record(kFolder + model + ".json.gz", diagnostics);
  REQUIRE_MESSAGE(record, diagnostics.text(false));
  return std::move(*record);
}

std::unique_ptr<const validation::Replay> replayed(const traces::EngineRecord& record, Diagnostics& diagnostics) {
  static const scenario::Catalogs catalogs{"models/catalog", "hardware/catalog", "workloads/catalog"};
  auto replay = std::make_unique<const validation::Replay>(record, device(), catalogs, diagnostics);
  REQUIRE_MESSAGE(replay->scenario(), diagnostics.text(false));
  return replay;
}

struct Outcome {
  std::vector<validation::Comparison> comparisons;
  [[nodiscard]] double error(const std::string& metric, const std::string& figure) const {
    for (const auto& comparison : comparisons)
      if (comparison.metric == metric) return comparison.error(figure).value();
    throw std::out_of_range(metric);
  }
};

Outcome outcome(const std::string& model) {
  Diagnostics diagnostics;
  const auto record = recorded(model, diagnostics);
  const auto replay = replayed(record, diagnostics);
  const scenario::Scenario& scenario = *replay->scenario();
  const scenario::ServingConfig& serving = scenario.config.serving;
  const auto steps = engine::bind(*scenario.config.hardware.devices.front(), scenario.model, serving.plan(),
                                  scenario::settings_of(serving));
  Outcome out{validation::compare_steps(record, *steps, models::kv_laws(scenario.model))};
  auto simulated = validation::simulate(scenario, diagnostics);
  REQUIRE_MESSAGE(simulated, diagnostics.text(false));
  for (validation::RequestTimes& request : simulated->requests) request.queued = request.arrival;
  const auto requests =
      validation::compare_requests(std::move(simulated->requests), validation::request_times(record), {}, diagnostics);
  REQUIRE_MESSAGE(requests, diagnostics.text(false));
  out.comparisons.insert(out.comparisons.end(), requests->begin(), requests->end());
  MESSAGE(model << ": median error of a step " << out.error("step", "error_median") << "; errors of mean TPOT "
                << out.error("tpot", "mean") << ", TTFT " << out.error("ttft", "mean") << ", makespan "
                << out.error("makespan", "mean"));
  return out;
}

}  // namespace

TEST_CASE("steps of a recorded engine take what the kernels say, and its requests queue as simulated") {
  for (const char* model : {"small", "medium", "large"}) {
    CAPTURE(model);
    const Outcome out = outcome(model);
    CHECK(out.error("step", "error_median") < 0.05);
    CHECK(out.error("step", "error_p95") < 0.12);
    CHECK(out.error("tpot", "mean") < 0.05);
    CHECK(out.error("ttft", "mean") < 0.03);
    CHECK(out.error("makespan", "mean") < 0.01);
  }
}

TEST_CASE("four fifths of an engine's steps correct the prices of the others") {
  for (const std::string model : {"small", "medium", "large"}) {
    CAPTURE(model);
    Diagnostics diagnostics;
    const auto record = recorded(model, diagnostics);
    const auto replay = replayed(record, diagnostics);
    const auto steps = validation::measured_steps(record, *replay->scenario());
    const auto table = validation::step_table(steps.steps, *replay->scenario(), model, {}, diagnostics);
    REQUIRE_MESSAGE(table, diagnostics.text(false));
    CHECK(table->device.with.model == model);
    CHECK(table->inside > 0.99);
    const auto &priced = table->comparisons[0], &tabled = table->comparisons[1];
    MESSAGE(model << ": held-out steps priced within " << *priced.error_median << ", corrected " << *tabled.error_median
                  << "; 90 % " << *priced.error_p90 << ", " << *tabled.error_p90);
    CHECK(*tabled.error_median < *priced.error_median + 0.001);
    CHECK(*tabled.error_p90 < 0.8 * *priced.error_p90);
  }
}
