// SPDX-License-Identifier: Apache-2.0
#include "sim/run/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/catalog.hpp"
#include "models/catalog.hpp"
#include "models/format.hpp"
#include "sim/run/device_memory.hpp"
#include "sim/run/fleet_plan.hpp"

namespace llmscape::run {

namespace {

// The value of a key of the tree, or the tree itself: where to point when a check over the whole fails.
SourceRange where_of(const YamlNode& root, std::initializer_list<std::string_view> path) {
  const YamlNode* node = &root;
  for (const std::string_view key : path) {
    const YamlNode* below = node->find(key);
    if (!below || !below->where.source) break;
    node = below;
  }
  return node->where;
}

void take_schema(YamlNode& root, Diagnostics& diagnostics) {
  const YamlNode* schema = root.find("schema");
  if (!schema) {
    diagnostics.error(root.where, "'schema' is required", "begin with 'schema: scenario/1'");
  } else if (schema->text != "scenario/1") {
    diagnostics.error(schema->where, "this is '" + schema->text + "', not a scenario", "use 'schema: scenario/1'");
  }
  root.erase("schema");
}

void spell_out_model(YamlNode& model) {
  if (!model.is_scalar()) return;
  YamlNode mapping;
  mapping.kind = YamlNode::Kind::mapping;
  mapping.where = model.where;
  mapping.set("preset", model);
  model = std::move(mapping);
}

// Writes bare names as the mappings that they stand for. Models are read by their own reader, so theirs is no preset of
// the field table.
void spell_out_scenario(YamlNode& root) {
  if (YamlNode* model = root.find("model")) spell_out_model(*model);
  if (YamlNode* models = root.find("models"); models && models->is_mapping())
    for (YamlNode::Entry& entry : models->entries) spell_out_model(entry.value);
  spell_out(root, scenario_fields().info());
}

// `node` is where the description stands.
std::optional<models::ModelSpec> read_model(const ModelConfig& config, const YamlNode& node, const Catalogs& catalogs,
                                            const std::filesystem::path& folder, Diagnostics& diagnostics) {
  std::optional<models::ModelSpec> model;
  if (config.preset) {
    model = models::load_model(catalogs.models, *config.preset, where_of(node, {"preset"}), diagnostics);
  } else {
    const std::filesystem::path path = folder / *config.hf_config;
    if (std::filesystem::is_regular_file(path)) {
      model = models::load_model_file(path, diagnostics);
    } else {
      diagnostics.error(where_of(node, {"hf_config"}), "there is no file '" + path.string() + "'");
    }
  }
  if (!model) return std::nullopt;
  if (config.weights) models::set_weights(model->precision, *models::format_named(*config.weights));
  if (config.activations) model->precision.activations = *models::format_named(*config.activations);
  if (config.kv) model->precision.kv = *models::format_named(*config.kv);
  if (config.experts) model->precision.experts = models::format_named(*config.experts);
  if (config.embeddings) model->precision.embeddings = models::format_named(*config.embeddings);
  return model;
}

void read_models(Scenario& scenario, const YamlNode& root, const Catalogs& catalogs, Diagnostics& diagnostics) {
  const auto add = [&](const std::string& name, const ModelConfig& config, const YamlNode& node) {
    if (auto model = read_model(config, node, catalogs, scenario.folder, diagnostics)) {
      scenario.model_names.push_back(name);
      scenario.models.push_back(std::move(*model));
    }
  };
  add("", scenario.config.model, *root.find("model"));
  for (const auto& [name, config] : scenario.config.models) add(name, config, *root.find("models")->find(name));
  if (!diagnostics.has_errors()) scenario.model = scenario.models.front();
}

std::string gigabytes(Bytes bytes) { return fmt::format("{:.1f} GB", bytes.si() / 1e9); }

// The models that only make drafts.
void read_drafts(Scenario& scenario, const YamlNode& root, const Catalogs& catalogs, Diagnostics& diagnostics) {
  for (const PoolConfig& pool : scenario.pools) {
    if (!pool.speculation || !pool.speculation->draft.model) continue;
    const std::string& name = *pool.speculation->draft.model;
    const auto known = std::ranges::find(scenario.model_names, name);
    if (known != scenario.model_names.end()) {
      scenario.drafts.emplace(name, scenario.models[static_cast<std::size_t>(known - scenario.model_names.begin())]);
    } else if (!scenario.drafts.contains(name)) {
      const SourceRange where = where_of(root, {"serving", "speculation", "draft", "model"});
      if (auto model = models::load_model(catalogs.models, name, where, diagnostics))
        scenario.drafts.emplace(name, std::move(*model));
    }
  }
}

void check_memory(const Scenario& scenario, const PoolConfig& serving, const hardware::Device& device,
                  const SourceRange& where, Diagnostics& diagnostics) {
  const hardware::KvPool pool = kv_pool(scenario, serving, device);
  const std::string& model = scenario.model_of(serving).name;
  if (pool.tokens < serving.block_size) {
    diagnostics.error(
        where,
        fmt::format(
            "{} does not fit '{}': weights {}, activations {} and runtime {} leave no room for KV in {} ({:.0f} % of "
            "{}); {} are missing on each device",
            model, device.name, gigabytes(pool.need.weights), gigabytes(pool.need.activations), gigabytes(pool.runtime),
            gigabytes(pool.offered), 100 * serving.gpu_memory_utilization, gigabytes(device.memory()),
            gigabytes(pool.missing)),
        "more devices in serving.tensor_parallel, or a narrower model.weights");
  } else if (beside_draft(pool.tokens, scenario, serving) < serving.block_size) {
    diagnostics.error(where, fmt::format("the model that makes drafts leaves no room for KV entries beside {} on '{}'",
                                         model, device.name));
  } else if (kv_tokens(scenario, serving, device) < serving.block_size) {
    diagnostics.error(where,
                      fmt::format("{} models that take turns on '{}', {} of them resident, leave no room for the KV "
                                  "entries of {}",
                                  serving.models.size(), device.name, serving.take_turns.resident, model),
                      "fewer resident models, or more devices");
  }
}

// What a pool does not say of its engine is that of `serving`.
void inherit_engine(YamlNode& root) {
  YamlNode* serving = root.find("serving");
  YamlNode* pools = serving ? serving->find("pools") : nullptr;
  if (!pools || !pools->is_sequence()) return;
  const YamlNode all = *serving;
  for (YamlNode& pool : pools->items) {
    if (!pool.is_mapping()) continue;
    for (const YamlNode::Entry& entry : all.entries) {
      const auto& fields = pool_fields().info().fields;
      if (std::ranges::find(fields, entry.key, &FieldInfo::key) != fields.end() && !pool.find(entry.key))
        pool.set(entry.key, entry.value);
    }
  }
}

// Blocks go down from a prefix cache, and nodes are where the fabric says.
void check_tiers(const EngineConfig& engine, const HardwareConfig& hardware, const std::string& group,
                 const SourceRange& where, Diagnostics& diagnostics) {
  using Sharing = hardware::MemoryTier::Sharing;
  if (engine.kv_tiers.empty()) return;
  if (!engine.batcher->prefix_caching())
    diagnostics.error(where, "'kv_tiers' keep what leaves the prefix cache, and this batcher has none",
                      "batcher: {policy: vllm_v1, enable_prefix_caching: true}");
  for (std::size_t i = 1; i < engine.kv_tiers.size(); ++i)
    if (engine.kv_tiers[i].shared_by < engine.kv_tiers[i - 1].shared_by)
      diagnostics.error(where, in_quotes(engine.kv_tiers[i].name) + " is shared by fewer than the tier above it",
                        "tiers of a replica come first, then those of a node, then those of all");
  const bool of_nodes =
      std::ranges::any_of(engine.kv_tiers, [](const auto& tier) { return tier.shared_by == Sharing::node; });
  if (of_nodes && !hardware.fabric.groups.contains(group))
    diagnostics.error(where,
                      "a tier of a node: hardware.fabric.groups has to say in which nodes '" + group + "' stands",
                      group + ": {node: hgx-h200}");
}

void check_engine(const Scenario& scenario, const PoolConfig& engine, std::size_t device_index, const YamlNode& root,
                  Diagnostics& diagnostics) {
  const models::ParallelPlan plan = engine.plan();
  const hardware::Device& device = *scenario.config.hardware.devices[device_index];
  const SourceRange where = root.find("hardware")->find("devices")->items[device_index].where;
  if (device.count % plan.devices() != 0)
    diagnostics.error(where, "a replica takes " + std::to_string(plan.devices()) +
                                 " devices (tensor x pipeline x data parallel), but '" + device.name + "' has " +
                                 std::to_string(device.count));
  const models::ModelSpec& model = scenario.model_of(engine);
  for (const std::string& problem : device.problems(model, plan)) diagnostics.error(where, problem);
  check_tiers(engine, scenario.config.hardware, device.name, where_of(root, {"serving", "kv_tiers"}), diagnostics);
  for (const std::string& problem : draft_problems(scenario, engine, device))
    diagnostics.error(where_of(root, {"serving", "speculation"}), problem);
  for (const std::string& problem : lora_problems(scenario, engine, device))
    diagnostics.error(where_of(root, {"serving", "lora"}), problem);
  if (!engine.models.empty() && !load_bandwidth(engine, device))
    diagnostics.error(where,
                      "models take turns on '" + device.name + "', but nothing says how fast their weights are loaded",
                      "take_turns: {load_bandwidth: 50 GB/s}");
  if (!diagnostics.has_errors()) check_memory(scenario, engine, device, where, diagnostics);
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

// The pools as they will run: each names the groups that it consists of, and each group is in one of them.
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

void check_plans(const Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics) {
  const auto& devices = scenario.config.hardware.devices;
  for (const PoolConfig& pool : scenario.pools) {
    for (const std::string& problem : models::problems(pool.plan(), scenario.model_of(pool)))
      diagnostics.error(where_of(root, {"serving", "tensor_parallel"}), problem);
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (std::ranges::find(pool.devices, devices[i]->name) != pool.devices.end())
        check_engine(scenario, pool, i, root, diagnostics);
  }
}

}  // namespace

workloads::WorkloadContext Scenario::workload_context() const {
  return {folder, slo_classes, models.size() > 1 ? model_names : std::vector<std::string>(), workload_where,
          config.hardware.retrieval.has_value()};
}

std::string name_of(const PoolConfig& pool) {
  if (pool.name) return *pool.name;
  std::string groups;
  for (const std::string& group : pool.devices) groups += (groups.empty() ? "" : "+") + group;
  return groups;
}

bool Scenario::replicas_convert() const {
  return std::ranges::any_of(config.serving.controllers, [](const auto& policy) { return policy->converts(); });
}

int Scenario::model_index(const PoolConfig& pool) const {
  return static_cast<int>(std::ranges::find(model_names, pool.model.value_or("")) - model_names.begin());
}

PresetLoader preset_loader(const Catalogs& catalogs, const std::filesystem::path& folder) {
  return [catalogs, folder](std::string_view catalog, std::string_view name, const SourceRange& where,
                            Diagnostics& diagnostics) -> std::optional<YamlNode> {
    const auto load = [&](const std::filesystem::path& entries, std::string_view kind) {
      return name.ends_with(".yaml") ? description_file(folder / name, kind, diagnostics)
                                     : catalog_entry(entries, kind, name, where, diagnostics);
    };
    if (catalog == "nodes") return load(catalogs.hardware / "nodes", "node");
    if (catalog == "links") return load(catalogs.hardware / "links", "link");
    if (catalog == "hosts") return load(catalogs.hardware / "hosts", "host");
    if (catalog == "dram") return load(catalogs.hardware / "dram", "dram");
    if (catalog == "tiers") return load(catalogs.hardware / "tiers", "tier");
    return catalog == "hardware" ? load(catalogs.hardware, "device") : load(catalogs.workloads, "workload");
  };
}

std::optional<Scenario> load_scenario(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                                      std::optional<std::int64_t> seed, const Catalogs& catalogs,
                                      Diagnostics& diagnostics) {
  YamlNode root = read_yaml_file(file, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return read_scenario(std::move(root), file.parent_path(), overrides, seed, catalogs, diagnostics);
}

std::optional<Scenario> read_scenario(YamlNode root, const std::filesystem::path& folder,
                                      const std::vector<std::string>& overrides, std::optional<std::int64_t> seed,
                                      const Catalogs& catalogs, Diagnostics& diagnostics) {
  take_schema(root, diagnostics);
  spell_out_scenario(root);
  for (const std::string& assignment : overrides) {
    apply_override(root, assignment, diagnostics);
    spell_out_scenario(root);  // one override may name what the next one goes into
  }
  if (seed) apply_override(root, "seed=" + std::to_string(*seed), diagnostics);
  inherit_engine(root);
  expand_presets(root, scenario_fields().info(), preset_loader(catalogs, folder), diagnostics);

  Scenario scenario;
  scenario.folder = folder;
  if (!scenario_fields().read(scenario.config, root, diagnostics) || diagnostics.has_errors()) return std::nullopt;
  const ScenarioConfig& config = scenario.config;
  scenario.workload_where = where_of(root, {"workload"});
  read_models(scenario, root, catalogs, diagnostics);
  if (!diagnostics.has_errors()) {
    scenario.pools = resolve_pools(scenario, root, diagnostics);
    if (!diagnostics.has_errors()) read_drafts(scenario, root, catalogs, diagnostics);
    if (!diagnostics.has_errors()) check_plans(scenario, root, diagnostics);
  }
  if (config.cost) {
    std::vector<std::string> groups;
    for (const auto& device : config.hardware.devices) groups.push_back(device->name);
    check_cost(*config.cost, groups, root, diagnostics);
  }
  scenario.slo_classes.push_back("");
  scenario.slos.push_back({config.slo.ttft, config.slo.tpot, config.slo.e2e});
  for (const auto& [name, limits] : config.slo.classes) {
    scenario.slo_classes.push_back(name);
    scenario.slos.push_back(limits);
  }
  if (diagnostics.has_errors()) return std::nullopt;

  fill_defaults(root, scenario_fields().info());
  scenario.fleet = fleet_plan(scenario, root);
  check_fleet(scenario, root, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  YamlNode schema = YamlNode::scalar("scenario/1");
  scenario.resolved.kind = YamlNode::Kind::mapping;
  scenario.resolved.set("schema", std::move(schema));
  for (auto& entry : root.entries) scenario.resolved.set(entry.key, std::move(entry.value));
  return scenario;
}

}  // namespace llmscape::run
