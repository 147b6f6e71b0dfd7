// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/no_effect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hardware/cim/chip.hpp"
#include "models/step_work.hpp"
#include "sim/engine/kv_pool.hpp"
#include "sim/scenario/replica_size.hpp"

namespace llmscape::scenario {
namespace {

// Whether the pool's choice is not what would be taken without it.
using Chosen = bool (*)(const PoolConfig&);

bool chose_windows(const PoolConfig& pool) {
  return name_of(pool.kv_windows) != engine_default(pool.engine.name, pool.engine.version, "kv_windows");
}

bool chose_utilization(const PoolConfig& pool) {
  return pool.gpu_memory_utilization != EngineConfig().gpu_memory_utilization;
}

// Stores below the pool, transfers and the like keep the entries of all layers whole, whatever the engine does alone.
void warn_of_whole_windows(Scenario& scenario) {
  for (const PoolConfig& pool : scenario.pools) {
    const std::vector<std::int64_t> laws = models::kv_laws(scenario.model_of(pool));
    if (laws.size() < 2 || laws.front() > 0 || pool.kv_windows == KvWindows::ignored) continue;
    for (const std::string& group : pool.devices) {
      const hardware::Device& device = *scenario.config.hardware.devices[scenario.group_of(group)];
      if (windows_of(scenario, pool, device) != KvWindows::ignored ||
          engine::stated_kv_tokens(device, scenario.model_on(pool, device), pool.plan()) > 0)
        continue;
      std::string text = fmt::format(
          "'{}' keeps the entries of layers with a window whole, and so has fewer KV blocks than with 'kv_windows: "
          "{}': "
          "beside KV transfers, tiers, hosts and swapping their bytes are those of all layers",
          group, name_of(pool.kv_windows));
      if (std::ranges::find(scenario.warnings, text) == scenario.warnings.end())
        scenario.warnings.push_back(std::move(text));
    }
  }
}

// Of the KV pool: devices that say themselves how many tokens of KV they hold do not ask.
void warn_of_kv(Scenario& scenario, const char* key, Chosen chosen) {
  const hardware::Device* believed = nullptr;
  for (const PoolConfig& pool : scenario.pools) {
    if (!chosen(pool)) continue;
    for (const std::string& group : pool.devices) {
      const hardware::Device& device = *scenario.config.hardware.devices[scenario.group_of(group)];
      if (engine::stated_kv_tokens(device, scenario.model_on(pool, device), pool.plan()) == 0) return;
      believed = &device;
    }
  }
  if (believed)
    scenario.warnings.push_back(
        fmt::format("serving.{} has no effect: '{}' says itself how many tokens of KV it holds", key, believed->name));
}

void warn_of_exchange(Scenario& scenario) {
  const auto asks = [](const PoolConfig& pool) { return pool.expert_exchange == models::ExpertExchange::all_to_all; };
  const auto exchanges = [&](const PoolConfig& pool) { return asks(pool) && pool.lock_step; };
  if (std::ranges::any_of(scenario.pools, asks) && std::ranges::none_of(scenario.pools, exchanges))
    scenario.warnings.emplace_back(
        "serving.expert_exchange has no effect: only data-parallel ranks of a mixture send tokens to one another's "
        "experts (serving.data_parallel)");
}

// Whether a stream of the workload does.
bool any_stream(const workloads::WorkloadConfig& workload, bool (workloads::Stream::*does)() const) {
  return (workload.stream && (*workload.stream.*does)()) ||
         std::ranges::any_of(workload.mixture, [&](const auto& part) { return (*part.stream.*does)(); });
}

// Hosts that search draw power and cost money whether somebody asks them or not.
void warn_of_retrieval(Scenario& scenario) {
  const workloads::WorkloadConfig& workload = scenario.config.workload;
  if (scenario.config.hardware.retrieval && !any_stream(workload, &workloads::Stream::searches))
    scenario.warnings.emplace_back(
        "hardware.retrieval is asked nothing, and its joules and its costs count all the same: no stream of the "
        "workload searches there ('search: hosts' of rag, 'tool: search' of agents)");
  if (scenario.config.serving.retrieval_servers != ServingConfig().retrieval_servers &&
      !any_stream(workload, &workloads::Stream::asks_station))
    scenario.warnings.emplace_back(
        "serving.retrieval_servers has no effect: no stream of the workload searches in the station ('retrieval' of "
        "rag, 'tool: retrieval' of agents)");
}

// Rails are links of their own, each a part of the uplink: a device has one, whatever its adapter carries.
void warn_of_adapters(Scenario& scenario) {
  const HardwareConfig& hardware = scenario.config.hardware;
  const std::int64_t planes = hardware.topology ? hardware.topology->planes() : 1;
  if (planes == 1) return;
  for (const auto& [group, placement] : hardware.fabric.groups) {
    const hardware::Node& node = placement.node;
    const BytesPerSecond rail = *node.uplink / static_cast<double>(planes);
    if (node.adapter && **node.adapter < rail)
      scenario.warnings.push_back(
          fmt::format("'adapter' of the nodes of '{}' has no effect: with {} rails each device reaches {:.3g} GB/s, a "
                      "rail's part of the uplink",
                      group, planes, rail.si() / 1e9));
  }
}

// A key of `serving` that says how something is done, and where it never is.
struct Condition {
  const char* key;
  Chosen chosen;
  bool (*occurs)(const Scenario&);
  const char* otherwise;
};

bool loses_or_starts(const Scenario& scenario) {
  const ScenarioConfig& config = scenario.config;
  return !config.faults.schedule.empty() || !config.faults.mtbf.empty() || !config.serving.controllers.empty();
}
bool has_tiers(const Scenario& scenario) {
  return std::ranges::any_of(scenario.pools, [](const PoolConfig& pool) { return !pool.kv_tiers.empty(); });
}

constexpr std::array kConditions = {
    Condition{"cold_start", [](const PoolConfig& pool) { return pool.cold_start.has_value(); }, loses_or_starts,
              "no replica starts while the scenario runs, without 'controllers' and 'faults'"},
    Condition{"kv_fetch", [](const PoolConfig& pool) { return pool.kv_fetch != PoolConfig().kv_fetch; }, has_tiers,
              "there are no 'kv_tiers' to fetch from"},
    Condition{"kv_write", [](const PoolConfig& pool) { return pool.kv_write != PoolConfig().kv_write; }, has_tiers,
              "there are no 'kv_tiers' to write to"},
};

void warn_of_conditions(Scenario& scenario) {
  for (const Condition& c : kConditions)
    if (std::ranges::any_of(scenario.pools, c.chosen) && !c.occurs(scenario))
      scenario.warnings.push_back(fmt::format("serving.{} has no effect: {}", c.key, c.otherwise));
  if (scenario.config.serving.retries != ServingConfig().retries && !loses_or_starts(scenario))
    scenario.warnings.emplace_back("serving.retries has no effect: no replica is lost without 'faults'");
  const AdmissionConfig& admission = scenario.config.serving.admission;
  if (admission.max_waiting && !admission.max_outstanding && !loses_or_starts(scenario))
    scenario.warnings.emplace_back(
        "serving.admission.max_waiting has no effect: no call waits in the gateway without 'max_outstanding' while "
        "there are replicas, and none goes without 'faults' and 'controllers'");
}

// Macros take inputs of their own width: wider activations are quantised to it, and narrower ones padded.
void warn_of_activations(Scenario& scenario) {
  for (const PoolConfig& pool : scenario.pools) {
    const ModelConfig& config = pool.model ? scenario.config.models.at(*pool.model) : scenario.config.model;
    if (!config.activations) continue;
    for (const std::string& group : pool.devices) {
      const hardware::Device& device = *scenario.config.hardware.devices[scenario.group_of(group)];
      const auto* chip = dynamic_cast<const hardware::CimDevice*>(&device);
      const models::Format& inputs = scenario.model_on(pool, device).precision.activations;
      if (!chip || 8 * inputs.bytes >= static_cast<double>(*chip->macro.input_bits)) continue;
      std::string text = fmt::format("{}.activations has no effect on '{}': its macros take inputs of {} bits",
                                     pool.model ? "models." + *pool.model : "model", group, *chip->macro.input_bits);
      if (std::ranges::find(scenario.warnings, text) == scenario.warnings.end())
        scenario.warnings.push_back(std::move(text));
    }
  }
}

}  // namespace

void warn_of_no_effect(Scenario& scenario) {
  warn_of_kv(scenario, "kv_windows", chose_windows);
  warn_of_whole_windows(scenario);
  warn_of_kv(scenario, "gpu_memory_utilization", chose_utilization);
  warn_of_exchange(scenario);
  warn_of_adapters(scenario);
  warn_of_activations(scenario);
  warn_of_retrieval(scenario);
  warn_of_conditions(scenario);
}

}  // namespace llmscape::scenario
