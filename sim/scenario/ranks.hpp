// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/yaml_reader.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// Settles what data-parallel ranks mean for each pool: whether they step together, who balances them, and the limits of
// one of them. Pools name models that there are.
void resolve_ranks(const Scenario& scenario, std::vector<PoolConfig>& pools);

// Ranks that step together come and go together, and nobody simulates that yet: faults, controllers, turns.
void check_ranks(const Scenario& scenario, const PoolConfig& pool, const YamlNode& root, Diagnostics& diagnostics);

}  // namespace llmscape::scenario
