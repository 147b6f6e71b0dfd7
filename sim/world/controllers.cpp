// SPDX-License-Identifier: Apache-2.0
#include "sim/world/controllers.hpp"

#include "sim/scenario/faults.hpp"
#include "sim/serving/controllers/fault_injector.hpp"

namespace llmscape::world {
namespace {

// Breaks replicas as the scenario says; nullptr where it says nothing.
std::unique_ptr<serving::Controller> make_fault_injector(const scenario::Scenario& scenario,
                                                         const RandomStreams& streams) {
  std::vector<serving::Fault> scheduled;
  for (const scenario::FaultConfig& fault : scenario.config.faults.schedule)
    if (!fault.uplink)
      scheduled.push_back({fault.at, fault.lasts.value_or(serving::kNever), scenario::replicas_hit(scenario, fault)});
  std::vector<serving::FailingDevice> failing;
  const auto& groups = scenario.config.hardware.devices;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const auto found = scenario.config.faults.mtbf.find(groups[group]->name);
    if (found == scenario.config.faults.mtbf.end()) continue;
    const RandomStreams of_group = streams.child("faults", group);
    for (std::int64_t i = 0; i < groups[group]->count; ++i)
      failing.push_back({found->second.mtbf, found->second.mttr,
                         of_group.stream("device", static_cast<std::uint64_t>(i)),
                         scenario::replicas_on(scenario, found->first, i, i + 1)});
  }
  if (scheduled.empty() && failing.empty()) return nullptr;
  return std::make_unique<serving::FaultInjector>(std::move(scheduled), std::move(failing), scenario.fleet);
}

}  // namespace

std::vector<std::unique_ptr<serving::Controller>> make_controllers(const scenario::Scenario& scenario,
                                                                   const RandomStreams& streams) {
  std::vector<std::unique_ptr<serving::Controller>> controllers;
  if (auto injector = make_fault_injector(scenario, streams)) controllers.push_back(std::move(injector));
  for (const auto& policy : scenario.config.serving.controllers) controllers.push_back(policy->make(scenario.fleet));
  return controllers;
}

}  // namespace llmscape::world
