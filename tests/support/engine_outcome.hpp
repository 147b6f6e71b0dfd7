// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models/step_work.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/validation/replay.hpp"
#include "sim/validation/requests.hpp"
#include "sim/validation/steps.hpp"

// What a device says of a recorded run of the mini engine.
namespace llmscape::test {

inline traces::EngineRecord recorded_run(const std::string& path, Diagnostics& diagnostics) {
  auto record = traces::read_engine_record(path, diagnostics);
  REQUIRE_MESSAGE(record, diagnostics.text(false));
  return std::move(*record);
}

// `device`: an entry of hardware.devices.
inline std::unique_ptr<const validation::Replay> replayed(const traces::EngineRecord& record, YamlNode device,
                                                          Diagnostics& diagnostics) {
  static const scenario::Catalogs catalogs{"models/catalog", "hardware/catalog", "workloads/catalog"};
  auto replay = std::make_unique<const validation::Replay>(record, std::move(device), catalogs, diagnostics);
  REQUIRE_MESSAGE(replay->scenario(), diagnostics.text(false));
  return replay;
}

struct EngineOutcome {
  std::vector<validation::Comparison> comparisons;
  [[nodiscard]] double error(const std::string& metric, const std::string& figure) const {
    for (const auto& comparison : comparisons)
      if (comparison.metric == metric) return comparison.error(figure).value();
    throw std::out_of_range(metric);
  }
};

inline EngineOutcome engine_outcome(const std::string& path, YamlNode device) {
  Diagnostics diagnostics;
  const auto record = recorded_run(path, diagnostics);
  const auto replay = replayed(record, std::move(device), diagnostics);
  const scenario::Scenario& scenario = *replay->scenario();
  const scenario::ServingConfig& serving = scenario.config.serving;
  const auto steps = engine::bind(*scenario.config.hardware.devices.front(), scenario.model, serving.plan(),
                                  scenario::settings_of(serving));
  EngineOutcome out{validation::compare_steps(record, *steps, models::kv_laws(scenario.model))};
  auto simulated = validation::simulate(scenario, diagnostics);
  REQUIRE_MESSAGE(simulated, diagnostics.text(false));
  const auto energy = validation::compare_energy(simulated->result, record);
  for (validation::RequestTimes& request : simulated->requests) request.queued = request.arrival;
  const auto requests =
      validation::compare_requests(std::move(simulated->requests), validation::request_times(record), {}, diagnostics);
  REQUIRE_MESSAGE(requests, diagnostics.text(false));
  out.comparisons.insert(out.comparisons.end(), requests->begin(), requests->end());
  out.comparisons.insert(out.comparisons.end(), energy.begin(), energy.end());
  std::string watts;
  if (!energy.empty()) watts = ", power " + std::to_string(out.error("power", "mean"));
  MESSAGE(path << ": median error of a step " << out.error("step", "error_median") << "; errors of mean TPOT "
               << out.error("tpot", "mean") << ", TTFT " << out.error("ttft", "mean") << ", makespan "
               << out.error("makespan", "mean") << watts);
  return out;
}

}  // namespace llmscape::test
