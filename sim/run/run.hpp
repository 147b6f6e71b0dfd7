// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/result/result.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/world/options.hpp"

namespace llmscape::run {

// Builds the world of the scenario and runs it to its end (world::World::run). A result without anything, after
// reporting, where the workload cannot start: its trace cannot be read.
result::RunResult run_scenario(const scenario::Scenario& scenario, const world::Options& options,
                               Diagnostics& diagnostics);

}  // namespace llmscape::run
