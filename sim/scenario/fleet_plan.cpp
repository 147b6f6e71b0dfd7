// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/fleet_plan.hpp"

#include <algorithm>
#include <set>

#include "sim/scenario/device_memory.hpp"
#include "sim/scenario/faults.hpp"

namespace llmscape::scenario {
namespace {

// Everything that the replicas of a pool are made from, as text: not who sends them what.
std::string engine_of(const YamlNode& pool, const YamlNode& devices, const PoolConfig& config) {
  YamlNode engine = pool;
  for (const char* key : {"name", "devices", "role", "accepts", "router", "cold_start"}) engine.erase(key);
  std::set<std::string> kinds;
  for (YamlNode device : devices.items) {
    if (std::ranges::find(config.devices, device.find("name")->text) == config.devices.end()) continue;
    for (const char* key : {"name", "count", "description"}) device.erase(key);
    kinds.insert(write_yaml(device));
  }
  std::string text = write_yaml(engine);
  for (const std::string& kind : kinds) text += kind;
  return text;
}

}  // namespace

serving::FleetPlan fleet_plan(const Scenario& scenario, const YamlNode& root) {
  serving::FleetPlan plan;
  for (const PoolConfig& pool : scenario.pools) {
    plan.pools.push_back({name_of(pool), scenario.model_index(pool), pool.role, "", !pool.models.empty()});
    for (const std::string& name : pool.devices) {
      const auto& device = scenario.config.hardware.devices[scenario.group_of(name)];
      const std::int64_t devices = pool.plan().devices();
      for (std::int64_t first = 0; first + devices <= device->count; first += devices)
        plan.replicas.push_back(
            {plan.pools.size() - 1, device->name, first, devices, cold_start(scenario, pool, *device)});
    }
  }
  if (scenario.config.serving.controllers.empty()) return plan;  // nobody asks which engines are alike
  std::size_t place = 0;
  const auto& written = scenario.config.serving.pools;
  for (std::size_t i = 0; i < written.size(); ++i)
    for (std::size_t one = 0; one < std::max<std::size_t>(1, written[i].models.size()); ++one, ++place)
      plan.pools[place].engine = engine_of(root.find("serving")->find("pools")->items[i],
                                           *root.find("hardware")->find("devices"), scenario.pools[place]);
  return plan;
}

void check_fleet(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics) {
  const auto& controllers = scenario.config.serving.controllers;
  std::set<std::size_t> scaled;
  for (std::size_t i = 0; i < controllers.size(); ++i) {
    const SourceRange& where = root.find("serving")->find("controllers")->items[i].where;
    const auto problems = controllers[i]->problems(scenario.fleet);
    for (const serving::Problem& problem : problems) diagnostics.error(where, problem.message, problem.hint);
    if (!problems.empty()) continue;
    if (const auto pool = controllers[i]->scales(scenario.fleet); pool && !scaled.insert(*pool).second)
      diagnostics.error(where,
                        "two controllers scale the pool '" + scenario.fleet.pools[*pool].name +
                            "': each would undo what the other one does",
                        "one of them, or a pool for each");
  }
  check_faults(scenario, root, diagnostics);
}

}  // namespace llmscape::scenario
