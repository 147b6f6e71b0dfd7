// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// How the pool's engine executes its model.
models::Execution execution_of(const EngineConfig& engine);

// Why it cannot do so with this pool on this device, one sentence each; empty: it can. Slots of a static cache are
// allocated for the most sequences of the batcher, so that all of them have to fit.
std::vector<std::string> execution_problems(const Scenario& scenario, const PoolConfig& pool,
                                            const hardware::Device& device);
std::vector<std::string> slot_problems(const Scenario& scenario, const PoolConfig& pool,
                                       const hardware::Device& device);

}  // namespace llmscape::scenario
