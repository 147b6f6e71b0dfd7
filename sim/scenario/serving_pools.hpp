// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// The pools as they will run: each names the groups that it consists of, each group is in one of them, and each serves
// one model; every model is served. `root` is the tree that the scenario was read from, for messages.
std::vector<PoolConfig> resolve_pools(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics);

// Reports plans that do not go with their model, and pools that do not go with their devices: counts, memory, tiers,
// drafts, adapters.
void check_pools(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics);

}  // namespace llmscape::scenario
