// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/faults.hpp"

#include <algorithm>
#include <cmath>

#include "sim/scenario/where.hpp"

namespace llmscape::scenario {
namespace {

const hardware::Device* group_named(const Scenario& scenario, const std::string& name) {
  for (const auto& device : scenario.config.hardware.devices)
    if (device->name == name) return device.get();
  return nullptr;
}

const hardware::Node* node_of_group(const Scenario& scenario, const std::string& group) {
  const auto& groups = scenario.config.hardware.fabric.groups;
  const auto placed = groups.find(group);
  return placed != groups.end() ? &placed->second.node : nullptr;
}

std::vector<std::string> group_names(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const auto& device : scenario.config.hardware.devices) names.push_back(device->name);
  return names;
}

// Says what is wrong with a fault.
class Check {
 public:
  Check(const Scenario& scenario, Diagnostics& diagnostics) : scenario_(scenario), diagnostics_(diagnostics) {}

  void group(const std::string& name, const SourceRange& where) {
    if (!group_named(scenario_, name))
      diagnostics_.error(where, "there is no group of devices " + in_quotes(name),
                         did_you_mean(name, group_names(scenario_)));
  }
  void cold_starts(const std::string& name, const SourceRange& where) {
    for (const serving::Problem& problem :
         serving::unknown_cold_starts(scenario_.fleet, [&](const auto& replica) { return replica.group == name; }))
      diagnostics_.error(where, problem.message, problem.hint);
  }
  // Faults come at exponential times: exp(-cold start / time between faults) of all starts succeed. Below one in a
  // thousand a run is a row of starts in vain, without an end.
  void starts_between_faults(const std::string& name, Seconds mtbf, const SourceRange& where) {
    for (const auto& replica : scenario_.fleet.replicas) {
      if (replica.group != name || !replica.cold_start) continue;
      const Seconds between = mtbf / static_cast<double>(replica.devices);
      if (std::exp(-(*replica.cold_start / between)) >= 1e-3) continue;
      diagnostics_.error(where,
                         "a replica on " + in_quotes(name) + " breaks every " + format(between) +
                             " on average, and takes " + format(*replica.cold_start) +
                             " to start: it hardly ever serves",
                         "an 'mtbf' above the cold start times the devices of a replica");
      return;
    }
  }
  void fault(const FaultConfig& fault, const SourceRange& where) {
    if (fault.site) return site(*fault.site, where);
    if (!group_named(scenario_, *fault.group)) return;  // told by check_fault_groups
    const hardware::Device& device = *group_named(scenario_, *fault.group);
    if (fault.device) {
      index("device", *fault.device, device.count, *fault.group, where);
    } else if (fault.node) {
      const hardware::Node* node = node_of_group(scenario_, *fault.group);
      if (!node)
        diagnostics_.error(where, "hardware.fabric.groups has to say in which nodes '" + *fault.group + "' stands",
                           *fault.group + ": {node: hgx-h200}");
      else index("node", *fault.node, (device.count + node->devices - 1) / node->devices, *fault.group, where);
    } else {
      const auto replicas = static_cast<std::int64_t>(replicas_on(scenario_, *fault.group, 0, device.count).size());
      index("replica", *fault.replica, replicas, *fault.group, where);
    }
    if (fault.lasts && !fault.uplink) cold_starts(*fault.group, where);
  }

 private:
  void site(const std::string& name, const SourceRange& where) {
    const auto& sites = scenario_.config.hardware.fabric.sites;
    if (sites.contains(name)) return;
    std::vector<std::string> known;
    for (const auto& [other, config] : sites) known.push_back(other);
    diagnostics_.error(where, "there is no site " + in_quotes(name), did_you_mean(name, known));
  }
  void index(const std::string& what, std::int64_t index, std::int64_t count, const std::string& group,
             const SourceRange& where) {
    if (index >= count)
      diagnostics_.error(where, "'" + group + "' has no " + what + " " + std::to_string(index) + ": it has " +
                                    std::to_string(count) + ", counted from 0");
  }

  const Scenario& scenario_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::vector<std::size_t> replicas_on(const Scenario& scenario, const std::string& group, std::int64_t first,
                                     std::int64_t end) {
  std::vector<std::size_t> on;
  const auto& replicas = scenario.fleet.replicas;
  for (std::size_t i = 0; i < replicas.size(); ++i)
    if (replicas[i].group == group && replicas[i].first_device < end &&
        first < replicas[i].first_device + replicas[i].devices)
      on.push_back(i);
  return on;
}

std::vector<std::size_t> replicas_hit(const Scenario& scenario, const FaultConfig& fault) {
  if (fault.device) return replicas_on(scenario, *fault.group, *fault.device, *fault.device + 1);
  if (fault.node) {
    const std::int64_t devices = node_of_group(scenario, *fault.group)->devices;
    return replicas_on(scenario, *fault.group, *fault.node * devices, (*fault.node + 1) * devices);
  }
  const std::vector<std::size_t> of_group =
      replicas_on(scenario, *fault.group, 0, group_named(scenario, *fault.group)->count);
  const auto& hit = scenario.fleet.replicas[of_group[static_cast<std::size_t>(*fault.replica)]];
  return replicas_on(scenario, hit.group, hit.first_device, hit.first_device + hit.devices);
}

void check_fault_groups(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics) {
  const FaultsConfig& faults = scenario.config.faults;
  Check check(scenario, diagnostics);
  for (std::size_t i = 0; i < faults.schedule.size(); ++i)
    if (faults.schedule[i].group)
      check.group(*faults.schedule[i].group, root.find("faults")->find("schedule")->items[i].where);
  for (const auto& [group, mtbf] : faults.mtbf) check.group(group, where_of(root, {"faults", "mtbf", group}));
}

void check_faults(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics) {
  const FaultsConfig& faults = scenario.config.faults;
  Check check(scenario, diagnostics);
  for (std::size_t i = 0; i < faults.schedule.size(); ++i)
    check.fault(faults.schedule[i], root.find("faults")->find("schedule")->items[i].where);
  for (const auto& [group, mtbf] : faults.mtbf) {
    const SourceRange& where = root.find("faults")->find("mtbf")->find(group)->where;
    check.cold_starts(group, where);
    check.starts_between_faults(group, mtbf.mtbf, where);
  }
}

}  // namespace llmscape::scenario
