// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <vector>

#include "sim/result/result.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/validation/comparison.hpp"
#include "sim/validation/request_times.hpp"

namespace llmscape::validation {

// A recorded run as a scenario: its model, its engine's settings and its arrivals, on a device described by `device`
// (an entry of hardware.devices). What the scenario reads lies in a temporary folder while this lives.
class Replay {
 public:
  // Throws std::runtime_error where nothing can be written; other mistakes are reported.
  Replay(const traces::EngineRecord& record, YamlNode device, const scenario::Catalogs& catalogs,
         Diagnostics& diagnostics);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // Nothing where something was reported.
  [[nodiscard]] const std::optional<scenario::Scenario>& scenario() const { return scenario_; }

 private:
  std::filesystem::path folder_;
  std::optional<scenario::Scenario> scenario_;
};

// Runs the scenario on the bare event queue. Nothing after reporting.
struct Simulated {
  std::vector<RequestTimes> requests;  // those that were completed
  result::RunResult result;
};
std::optional<Simulated> simulate(const scenario::Scenario& scenario, Diagnostics& diagnostics);

// Mean power and joules of an output token, each as a single pair; none where the record has no energy.
std::vector<Comparison> compare_energy(const result::RunResult& predicted, const traces::EngineRecord& measured);

}  // namespace llmscape::validation
