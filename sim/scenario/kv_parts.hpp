// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// Reports what of an engine on a group of devices does not go together with where it keeps KV entries, and what is
// wrong with these places by themselves. `root`: of the scenario's file.
void check_kv(const Scenario& scenario, const PoolConfig& engine, const hardware::Device& device, const YamlNode& root,
              Diagnostics& diagnostics);

}  // namespace llmscape::scenario
