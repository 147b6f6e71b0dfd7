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

// How a run is run that is one of many in a process: on the event queue, which has SimGrid's bytes (docs/kernel.md) in
// a fifth less time and as often as one likes, with the prices that runs before it have kept. Where files may have
// changed since, as no catalogue remembers them (scenario::Catalogs), `prices` is to be taken away.
world::Options one_of_many();

}  // namespace llmscape::run
