// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// The replicas of the scenario in the order in which Engines builds them; `root` is its tree, defaults filled in.
serving::FleetPlan fleet_plan(const Scenario& scenario, const YamlNode& root);
// Controllers and faults against the pools, groups and sites that there are.
void check_fleet(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics);

}  // namespace llmscape::scenario
