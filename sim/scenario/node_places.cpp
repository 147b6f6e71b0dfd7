// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/node_places.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/where.hpp"

namespace llmscape::scenario {

std::int64_t nodes_of(const HardwareConfig& hardware, const std::string& group) {
  const auto device = std::ranges::find(hardware.devices, group, [](const auto& one) { return one->name; });
  if (device == hardware.devices.end()) return 0;
  const std::int64_t each = hardware.fabric.groups.at(group).node.devices;
  return ((*device)->count + each - 1) / each;
}

std::map<std::string, std::int64_t> first_places(const HardwareConfig& hardware) {
  std::map<std::string, std::int64_t> first;
  std::int64_t next = 0;
  for (const auto& device : hardware.devices) {
    if (!hardware.fabric.groups.contains(device->name)) continue;
    first.emplace(device->name, next);
    next += nodes_of(hardware, device->name);
  }
  return first;
}

void check_groups_of_fabric(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const auto& device : scenario.config.hardware.devices) known.push_back(device->name);
  for (const auto& [group, placement] : scenario.config.hardware.fabric.groups)
    if (std::ranges::find(known, group) == known.end())
      diagnostics.error(where_of(root, {"hardware", "fabric", "groups", group}),
                        fmt::format("there is no group of devices '{}'", group), did_you_mean(group, known));
}

void check_topology(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics) {
  const HardwareConfig& hardware = scenario.config.hardware;
  if (!hardware.topology) return;
  const SourceRange where = where_of(root, {"hardware", "topology"});
  if (hardware.fabric.groups.empty())
    diagnostics.error(where, "a topology joins nodes: hardware.fabric.groups has to say in which nodes devices stand",
                      "groups: {" + hardware.devices.front()->name + ": {node: hgx-h200}}");
  const auto places = hardware.topology->places();
  if (!places) return;
  std::int64_t nodes = 0;
  for (const auto& [group, placement] : hardware.fabric.groups) {
    nodes += nodes_of(hardware, group);
    const SourceRange stands = where_of(root, {"hardware", "fabric", "groups", group});
    if (placement.rack) diagnostics.error(stands, "nodes stand in racks where the topology is a tree", "kind: tree");
    if (!placement.site.empty())
      diagnostics.error(stands, "nodes stand at sites where the topology is a tree", "kind: tree");
    if (placement.node.devices % hardware.topology->planes() != 0)
      diagnostics.error(where, fmt::format("nodes of '{}' have {} devices, which {} rails do not share evenly", group,
                                           placement.node.devices, hardware.topology->planes()));
  }
  if (nodes > *places)
    diagnostics.error(where, fmt::format("the scenario has {} nodes, and the topology places for {}", nodes, *places));
}

}  // namespace llmscape::scenario
