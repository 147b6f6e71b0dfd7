// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// The place in the topology of the first node of each group of devices that stands in the fabric: groups take places in
// the order in which the scenario names them.
std::map<std::string, std::int64_t> first_places(const HardwareConfig& hardware);
// How many nodes the devices of a group fill, the last one perhaps in part.
std::int64_t nodes_of(const HardwareConfig& hardware, const std::string& group);

// `hardware.fabric.groups` names groups of devices that there are.
void check_groups_of_fabric(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics);
// What `hardware.topology` and the fabric say of each other.
void check_topology(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics);

}  // namespace llmscape::scenario
