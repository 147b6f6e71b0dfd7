// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

// Groups of devices that faults name and the scenario lacks.
void check_fault_groups(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics);
// Faults against the sites, devices and replicas that there are, of groups that there are.
void check_faults(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics);

// Numbers of the replicas on devices of the group from `first` to before `end`.
std::vector<std::size_t> replicas_on(const Scenario& scenario, const std::string& group, std::int64_t first,
                                     std::int64_t end);
// Those that a checked fault of a device, a node or a replica takes away: all with a device on what broke, so that
// models that take turns go together.
std::vector<std::size_t> replicas_hit(const Scenario& scenario, const FaultConfig& fault);

}  // namespace llmscape::scenario
