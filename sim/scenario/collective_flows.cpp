// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/collective_flows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/gpu/gpu.hpp"
#include "sim/scenario/where.hpp"
#include "sim/serving/batchers/layered.hpp"

namespace llmscape::scenario {
namespace {

class FlowCheck {
 public:
  FlowCheck(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics)
      : scenario_(scenario), root_(root), diagnostics_(diagnostics) {}

  // Whether collectives of the pool on this group of devices leave a node.
  bool leaves(const PoolConfig& pool, const hardware::Device& device) {
    const hardware::FabricConfig& fabric = scenario_.config.hardware.fabric;
    const auto placed = fabric.groups.find(device.name);
    const std::int64_t devices = pool.plan().all_devices();
    if (placed == fabric.groups.end()) {
      if (devices > 1)
        report("hardware.fabric.groups has to say in which nodes '" + device.name + "' stands",
               device.name + ": {node: hgx-h200}");
      return false;
    }
    const std::int64_t node = placed->second.node.devices;
    if (fits(devices, node)) return false;
    asks(pool, device, node);
    return true;
  }
  void faults() {
    for (const FaultConfig& fault : scenario_.config.faults.schedule)
      if (fault.uplink && *fault.uplink == BytesPerSecond())
        report("a link that fails stops collectives for good, which is not modelled", "an uplink above 0 in 'faults'");
    for (const auto& [name, site] : scenario_.config.hardware.fabric.sites)
      for (const hardware::UplinkChange& change : site.profile)
        if (change.uplink == BytesPerSecond())
          report("a link that fails stops collectives for good, which is not modelled",
                 "an uplink above 0 in the profile of '" + name + "'");
  }
  void without_effect(Scenario& scenario) const {
    scenario.warnings.emplace_back(
        "hardware.collective_flows has no effect: no replica and no ranks that step together are larger than a node");
  }

  static bool fits(std::int64_t devices, std::int64_t node) { return devices <= node && node % devices == 0; }

 private:
  void report(const std::string& message, const std::string& hint = "") {
    diagnostics_.error(where_of(root_, {"hardware", "collective_flows"}), message, hint);
  }
  void asks(const PoolConfig& pool, const hardware::Device& device, std::int64_t node) {
    const std::string whose = "collectives of '" + name_of(pool) + "' as flows: ";
    const hardware::Links* links = hardware::links_of(device);
    if (!links) report(whose + "'" + device.name + "' is no GPU, and does not say what it sends");
    else if (!links->domain)
      report(whose + "'" + device.name + "' does not say how far its fast links reach",
             fmt::format("links: {{domain: {{devices: {}, ...}}}}", node));
    else if (links->domain->devices != node)
      report(fmt::format("{}the fast links of '{}' reach {} devices, and its nodes have {}", whose, device.name,
                         links->domain->devices, node),
             fmt::format("links.domain.devices: {}", node));
    if (pool.pipeline_parallel > 1) report(whose + "stages of a pipeline are not modelled");
    if (!pool.models.empty()) report(whose + "models that take turns are not modelled");
    if (dynamic_cast<const serving::Layered*>(pool.batcher.get()))
      report(whose + "steps of part of the layers are not modelled", "another batcher");
    if (pool.lock_step && device.count % pool.devices_of_ranks() != 0)
      report(fmt::format("{}ranks that step together are {} devices, which do not divide the {} of '{}'", whose,
                         pool.devices_of_ranks(), device.count, device.name));
  }

  const Scenario& scenario_;
  const YamlNode& root_;
  Diagnostics& diagnostics_;
};

// Closed forms know domains of fast links and no nodes: where these are said to reach further than the node does, they
// price what leaves it as if it stayed inside.
void warn_of_links_past_nodes(Scenario& scenario) {
  const hardware::FabricConfig& fabric = scenario.config.hardware.fabric;
  for (const PoolConfig& pool : scenario.pools)
    for (const std::string& group : pool.devices) {
      const hardware::Device& device = *scenario.config.hardware.devices[scenario.group_of(group)];
      const auto placed = fabric.groups.find(device.name);
      const hardware::Links* links = hardware::links_of(device);
      if (placed == fabric.groups.end() || !links) continue;
      const std::int64_t node = placed->second.node.devices;
      if (FlowCheck::fits(pool.plan().all_devices(), node) || (links->domain && links->domain->devices <= node))
        continue;
      scenario.warnings.push_back(fmt::format(
          "'{}' stands in nodes of {} devices, but its fast links are said to reach {}: collectives of '{}' that leave "
          "a "
          "node are priced as inside one; 'links.domain' of the device says where they end",
          device.name, node, links->domain ? std::to_string(links->domain->devices) : "all", name_of(pool)));
    }
}

}  // namespace

void check_collective_flows(Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics) {
  if (!scenario.config.hardware.collective_flows.value_or(false)) return warn_of_links_past_nodes(scenario);
  FlowCheck check(scenario, root, diagnostics);
  bool any = false;
  for (const PoolConfig& pool : scenario.pools)
    for (const std::string& group : pool.devices)
      any = check.leaves(pool, *scenario.config.hardware.devices[scenario.group_of(group)]) || any;
  if (any) check.faults();
  else if (!diagnostics.has_errors()) check.without_effect(scenario);
}

}  // namespace llmscape::scenario
