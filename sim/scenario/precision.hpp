// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/result/result.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// Fills `scenario.served`: each model in the formats that each group of devices serves it in (hardware/precision.hpp),
// and `scenario.models` with those of its first group. Reports formats that a device cannot run.
void settle_precision(Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics);

// What a run's result says of it.
std::vector<result::PrecisionUsed> precision_used(const Scenario& scenario);

// A model that only makes drafts, in the formats of the device that runs it.
void settle_draft_precision(models::ModelSpec& draft, const hardware::Device& device);

}  // namespace llmscape::scenario
