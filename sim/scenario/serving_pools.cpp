// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/serving_pools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "hardware/profile/profile_device.hpp"
#include "models/pool_budget.hpp"
#include "sim/scenario/device_memory.hpp"
#include "sim/scenario/execution.hpp"
#include "sim/scenario/group_order.hpp"
#include "sim/scenario/kv_parts.hpp"
#include "sim/scenario/ranks.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/scenario/where.hpp"

namespace llmscape::scenario {
namespace {

std::string gigabytes(Bytes bytes) { return fmt::format("{:.1f} GB", bytes.si() / 1e9); }

// "weights 16.1 GB, activations 0.9 GB and runtime 0.5 GB": what stands beside KV.
std::string beside_kv(const PoolConfig& serving, const engine::KvPool& pool) {
  const std::string weights = "weights " + gigabytes(pool.need.weights);
  const std::string rest = ", activations " + gigabytes(pool.profiled) + " and runtime " + gigabytes(pool.runtime);
  if (!serving.lora) return weights + rest;
  return fmt::format("{}, {} adapters of lora {}{}", weights, serving.lora->held(), gigabytes(pool.adapters), rest);
}

// What would help most: fewer adapters, where the model fits without them.
std::string remedy(const engine::KvPool& pool) {
  return pool.adapters > pool.missing ? "a smaller lora.resident: other adapters are loaded when calls need them"
                                      : "more devices in serving.tensor_parallel, or a narrower model.weights";
}

void check_memory(const Scenario& scenario, const PoolConfig& serving, const hardware::Device& device,
                  const SourceRange& where, Diagnostics& diagnostics) {
  const engine::KvPool pool = kv_pool(scenario, serving, device);
  const std::string& model = scenario.model_of(serving).name;
  if (pool.tokens < serving.block_size) {
    diagnostics.error(
        where,
        fmt::format(
            "{} does not fit '{}': {} leave no memory for KV in {} ({:.0f} % of {}); {} are missing on each device",
            model, device.name, beside_kv(serving, pool), gigabytes(pool.offered), 100 * serving.gpu_memory_utilization,
            gigabytes(device.memory()), gigabytes(pool.missing)),
        remedy(pool));
  } else if (beside_draft(pool.tokens, scenario, serving, device) < serving.block_size) {
    diagnostics.error(where, fmt::format("{} no memory for KV entries beside {} on '{}'",
                                         serving.speculation->draft.model ? "the model that makes drafts leaves"
                                                                          : "the heads that make drafts leave",
                                         model, device.name));
  } else if (kv_tokens(scenario, serving, device) < serving.block_size) {
    diagnostics.error(where,
                      fmt::format("{} models that take turns on '{}', {} of them resident, leave no memory for the KV "
                                  "entries of {}",
                                  serving.models.size(), device.name, serving.take_turns.resident, model),
                      "fewer resident models, or more devices");
  }
}

void check_token_plan(const Scenario& scenario, const PoolConfig& engine, const hardware::Device& device,
                      const YamlNode& root, Diagnostics& diagnostics) {
  const models::ModelSpec& model = scenario.model_of(engine);
  const SourceRange where = where_of(root, {"model", "token_plan"});
  const auto skips = [](const models::LayerGroup& group) { return group.change.passed_by_last_only; };
  const bool thins = !models::thinnings(model).empty();
  if (engine.lora && (thins || std::ranges::any_of(model.groups, skips)))
    diagnostics.error(where, "the token plan does not say what adapters do to layers that prompts skip");
  if (thins && engine.batcher->cuts_prompts())
    diagnostics.error(where_of(root, {"serving", "batcher"}),
                      "this batcher cuts prompts: the token plan chooses which tokens go on when a prompt has passed a "
                      "layer as a whole",
                      "batcher: {policy: vllm_v0, max_num_batched_tokens: 131072}");
  if (thins && (engine.lock_step || engine.kv_host || scenario.config.serving.streaming_input))
    diagnostics.error(where,
                      "a token plan that thins prompts out does not go together with 'kv_host', streaming prompts or "
                      "data-parallel ranks of a mixture");
  if (!models::PoolBudget(model).limits()) return;
  const auto slides = [&](const models::SequenceState& state) {
    return state.reach > 0 && !state.keeps_all && !state.budget.limits();
  };
  if (std::ranges::any_of(model.groups, slides, [&](const auto& group) { return group.state(model.precision); }) &&
      windows_of(scenario, engine, device) == KvWindows::ignored)
    diagnostics.error(where, "a KV budget beside sliding windows needs 'kv_windows: pooled'");
}

SourceRange where_of_streams(const YamlNode& root, const EngineConfig& engine) {
  return where_of(root, {"serving", engine.pipeline_chunks ? "pipeline_chunks" : "pipeline_batches"});
}

void check_engine(const Scenario& scenario, const PoolConfig& engine, std::size_t device_index, const YamlNode& root,
                  Diagnostics& diagnostics) {
  const models::ParallelPlan plan = engine.plan();
  const hardware::Device& device = *scenario.config.hardware.devices[device_index];
  const SourceRange where = root.find("hardware")->find("devices")->items[device_index].where;
  if (device.count % engine.devices_of_ranks() != 0)
    diagnostics.error(where, "a replica takes " + std::to_string(engine.devices_of_ranks()) +
                                 " devices (tensor x pipeline x data parallel), but '" + device.name + "' has " +
                                 std::to_string(device.count));
  if (!models::problems(plan, scenario.model_of(engine)).empty()) return;  // said; what follows needs a plan that fits
  if (const std::string& set = engine.engine.kernels;
      !set.empty() && device.kernels() != set && !device.with_kernels_of(set))
    diagnostics.error(where_of(root, {"serving", "engine"}),
                      fmt::format("'{}' knows no kernel set '{}'", device.name, set), "leave 'kernels' out");
  if (engine.stages_shared() && device.passes_tokens_on())
    diagnostics.error(where_of_streams(root, engine),
                      fmt::format("the groups of '{}' pass the tokens of one batch on as they are done: streams of "
                                  "batches would add nothing",
                                  device.name),
                      "leave pipeline_batches and pipeline_chunks out");
  const models::ModelSpec& model = scenario.model_on(engine, device);
  std::vector<std::string> problems = device.problems(model, plan);
  if (problems.empty()) problems = engine::kv_problems(device, model);
  for (const std::string& problem : problems) diagnostics.error(where, problem);
  for (const std::string& problem : engine.batcher->problems(model))
    diagnostics.error(where_of(root, {"serving", "batcher"}), problem);
  for (const std::string& problem : execution_problems(scenario, engine, device))
    diagnostics.error(where_of(root, {"serving", "engine"}), problem);
  check_token_plan(scenario, engine, device, root, diagnostics);
  check_kv(scenario, engine, device, root, diagnostics);
  for (const std::string& problem : draft_problems(scenario, engine, device))
    diagnostics.error(where_of(root, {"serving", "speculation"}), problem);
  for (const std::string& problem : lora_problems(scenario, engine, device))
    diagnostics.error(where_of(root, {"serving", "lora"}), problem);
  if (!engine.models.empty() && !load_bandwidth(engine, device))
    diagnostics.error(where,
                      "models take turns on '" + device.name + "', but nothing says how fast their weights are loaded",
                      "take_turns: {load_bandwidth: 50 GB/s}");
  if (const std::string beyond = models_beyond_storage(scenario, engine, device); !beyond.empty())
    diagnostics.error(where, beyond, "fewer models, or a larger 'memory.ddr'");
  if (!diagnostics.has_errors()) check_memory(scenario, engine, device, where, diagnostics);
  if (diagnostics.has_errors()) return;
  for (const std::string& problem : slot_problems(scenario, engine, device))
    diagnostics.error(where_of(root, {"serving", "engine"}), problem);
}

// Streams that share stages come and go together.
void check_pipeline(const Scenario& scenario, const EngineConfig& engine, bool takes_turns, const YamlNode& root,
                    Diagnostics& diagnostics) {
  if (!engine.stages_shared()) return;
  const SourceRange where = where_of_streams(root, engine);
  if (engine.pipeline_parallel == 1)
    diagnostics.error(where, "batches can follow one another only through the stages of a pipeline",
                      "pipeline_parallel: 8");
  if (engine.kv_blocks.value_or(engine.pipeline_batches) < engine.pipeline_batches)
    diagnostics.error(where, "'kv_blocks' (" + std::to_string(*engine.kv_blocks) + ") leaves no block to some of the " +
                                 std::to_string(engine.pipeline_batches) + " streams of batches that share them");
  const bool faults = !scenario.config.faults.schedule.empty() || !scenario.config.faults.mtbf.empty();
  if (takes_turns || faults || !scenario.config.serving.controllers.empty())
    diagnostics.error(where,
                      "batches that follow one another through a pipeline do not go together with models that take "
                      "turns, controllers or faults");
}

using Report = std::function<void(const std::string& message, const std::string& hint)>;

bool drafts(const std::vector<PoolConfig>& pools, const std::string& model) {
  return std::ranges::any_of(
      pools, [&](const PoolConfig& pool) { return pool.speculation && pool.speculation->draft.model == model; });
}

// Every model is served, by pools that go together, or makes drafts.
void check_models(const Scenario& scenario, const std::vector<PoolConfig>& pools, const Report& report) {
  for (const PoolConfig& pool : pools)
    if (pool.model && !scenario.config.models.contains(*pool.model))
      report("'models' has no " + in_quotes(*pool.model), did_you_mean(*pool.model, scenario.model_names));
  for (const std::string& name : scenario.model_names) {
    const auto has = [&](serving::Role role) {
      return std::ranges::any_of(
          pools, [&](const PoolConfig& pool) { return pool.role == role && pool.model.value_or("") == name; });
    };
    const std::string model = name.empty() ? "'model'" : in_quotes(name);
    if (has(serving::Role::prefill) != has(serving::Role::decode))
      report("a prefill pool needs a decode pool of the same model, and a decode pool a prefill pool", "");
    else if (!has(serving::Role::any) && !has(serving::Role::prefill) && !drafts(pools, name))
      report("no pool serves " + model,
             name.empty() ? "a pool without 'model' does" : "a pool with 'model: " + name + "' does");
  }
}

void check_classes(const Scenario& scenario, const std::vector<PoolConfig>& pools, const Report& report) {
  for (const PoolConfig& pool : pools)
    for (const std::string& name : pool.accepts.classes)
      if (!scenario.config.slo.classes.contains(name)) {
        std::vector<std::string> known;
        for (const auto& [other, limits] : scenario.config.slo.classes) known.push_back(other);
        report("'slo.classes' has no " + in_quotes(name), did_you_mean(name, known));
      }
}

// A pool of several models becomes a pool for each, on the same devices.
std::vector<PoolConfig> one_model_each(const std::vector<PoolConfig>& pools, const Report& report) {
  std::vector<PoolConfig> all;
  for (const PoolConfig& pool : pools) {
    if (pool.models.empty()) {
      all.push_back(pool);
      continue;
    }
    if (pool.model) report("a pool has 'model' or 'models', not both", "");
    if (pool.role != serving::Role::any) report("models that take turns do so in pools of role 'any'", "");
    if (std::set<std::string>(pool.models.begin(), pool.models.end()).size() != pool.models.size())
      report("a pool names a model twice", "");
    for (const std::string& name : pool.models) {
      PoolConfig& one = all.emplace_back(pool);
      if (name != kMainModel) one.model = name;
      if (one.name) *one.name += ", " + name;
    }
  }
  return all;
}

}  // namespace

std::vector<PoolConfig> resolve_pools(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics) {
  const auto& devices = scenario.config.hardware.devices;
  std::vector<PoolConfig> pools = scenario.config.serving.pools;
  if (pools.empty()) {
    PoolConfig& all = pools.emplace_back();
    static_cast<EngineConfig&>(all) = static_cast<const EngineConfig&>(scenario.config.serving);
  }
  const auto report = [&](const std::string& message, const std::string& hint = "") {
    diagnostics.error(where_of(root, {"serving", "pools"}), message, hint);
  };
  std::map<std::string, int> uses;
  for (const auto& device : devices) uses[device->name] = 0;
  for (PoolConfig& pool : pools) {
    if (pool.devices.empty())
      for (const auto& [name, count] : uses) pool.devices.push_back(name);
    sort_groups(pool.devices, root);
    for (const std::string& name : pool.devices) {
      if (uses.contains(name)) ++uses[name];
      else
        report("there is no group of devices '" + name + "'",
               "give the groups names: {name: " + name + ", preset: ...}");
    }
  }
  for (const auto& [name, count] : uses)
    if (count != 1)
      report("the group of devices '" + name + "' is in " + std::to_string(count) + " pools; it has to be in one");
  pools = one_model_each(pools, report);
  check_models(scenario, pools, report);
  if (diagnostics.has_errors()) return pools;
  resolve_ranks(scenario, pools);
  check_classes(scenario, pools, report);
  for (const PoolConfig& pool : pools)
    if (pool.role != serving::Role::any)
      for (const std::string& group : pool.devices)
        if (!scenario.config.hardware.fabric.groups.contains(group))
          diagnostics.error(where_of(root, {"hardware", "fabric"}),
                            "prefill and decode pools move KV entries: hardware.fabric.groups has to say where '" +
                                group + "' stands",
                            group + ": {node: hgx-h200}");
  return pools;
}

namespace {

// Versions of a prompt go to an engine that can take one back, and stay there until its first token.
void check_streaming(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics) {
  if (!scenario.config.serving.streaming_input) return;
  const SourceRange where = where_of(root, {"serving", "streaming_input"});
  for (const PoolConfig& pool : scenario.pools) {
    if (pool.batcher->prefix_caching())
      diagnostics.error(where, "streaming prompts cannot be shared while they change",
                        "batcher: {policy: vllm_v1, enable_prefix_caching: false}");
    else if (!pool.batcher->streams_prompts())
      diagnostics.error(where, "this batcher takes prompts that are complete only", "batcher: streaming");
    if (pool.role != serving::Role::any)
      diagnostics.error(where, "a streaming prompt is not transferred between pools", "pools of role 'any'");
    if (!pool.models.empty()) diagnostics.error(where, "models that take turns take prompts that are complete only");
  }
}

// A KV transfer moves what the profile says, of whichever replica of the pool it comes.
void check_profiles(const Scenario& scenario, const PoolConfig& pool, const YamlNode& root, Diagnostics& diagnostics) {
  if (pool.role != serving::Role::prefill || pool.devices.size() < 2) return;
  for (const auto& device : scenario.config.hardware.devices)
    if (hardware::as_profile(*device) && std::ranges::find(pool.devices, device->name) != pool.devices.end())
      diagnostics.error(
          where_of(root, {"serving", "pools"}),
          "a pool of role 'prefill' with a profile, as '" + device->name + "' is, takes no other group of devices",
          "a pool for each group");
}

// The first degree that is written: the plan as a whole is what does not fit.
SourceRange where_of_plan(const YamlNode& root) {
  const YamlNode* serving = root.find("serving");
  for (const std::string_view degree : {"tensor_parallel", "expert_parallel", "data_parallel", "pipeline_parallel"})
    if (serving && serving->find(degree)) return where_of(root, {"serving", degree});
  return where_of(root, {"serving"});
}

}  // namespace

void check_pools(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics) {
  check_streaming(scenario, root, diagnostics);
  const auto& devices = scenario.config.hardware.devices;
  for (const PoolConfig& pool : scenario.pools) {
    for (const std::string& problem : models::problems(pool.plan(), scenario.model_of(pool)))
      diagnostics.error(where_of_plan(root), problem);
    check_pipeline(scenario, pool, !pool.models.empty(), root, diagnostics);
    check_ranks(scenario, pool, root, diagnostics);
    check_profiles(scenario, pool, root, diagnostics);
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (std::ranges::find(pool.devices, devices[i]->name) != pool.devices.end())
        check_engine(scenario, pool, i, root, diagnostics);
  }
}

}  // namespace llmscape::scenario
