// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// What `hardware.collective_flows` asks of pools, devices and nodes. Warns where it has no effect, and without it where
// links of devices are said to reach further than their nodes do.
void check_collective_flows(Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics);

}  // namespace llmscape::scenario
