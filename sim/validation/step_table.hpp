// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hardware/calibration/step_fit.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/validation/comparison.hpp"
#include "traces/engine_record.hpp"
#include "traces/step_csv.hpp"

// Measured steps as a device (hardware/steps): what a scenario's device would have to be corrected by.
namespace llmscape::validation {

struct MeasuredSteps {
  std::vector<hardware::MeasuredStep> steps;
  std::size_t host_bound = 0;   // beside them: the host took all of their time, so that they say nothing of the device
  std::set<std::string> times;  // columns of tables that tell the times: "step_ms"
};

// Steps of the mini engine: the time of its kernels. Decodes that ran as captured graphs are padded as `scenario`'s
// engine pads them.
MeasuredSteps measured_steps(const traces::EngineRecord& record, const scenario::Scenario& scenario);
// Steps of a server that is set up as the scenario says. Of times of whole steps the host's part is taken off, as the
// scenario's device and batcher have it (serving::StepTiming).
MeasuredSteps measured_steps(const traces::StepRows& rows, const scenario::Scenario& scenario);

struct StepTable {
  hardware::StepsDevice device;  // over the scenario's device, without a name
  hardware::StepFit fit;
  // Of the held-out steps: "priced by the device alone", "corrected by the other steps".
  std::vector<Comparison> comparisons;
  double inside = 0;  // share of the held-out steps within reach of the others
};

// Nothing after reporting at `where` why the steps make no table: too few, all alike, times that the device is nowhere
// near, or a scenario with several pools, devices or stages.
std::optional<StepTable> step_table(const MeasuredSteps& measured, const scenario::Scenario& scenario,
                                    const std::string& source, const SourceRange& where, Diagnostics& diagnostics);

}  // namespace llmscape::validation
