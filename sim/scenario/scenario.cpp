// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/catalog.hpp"
#include "base/opened_files.hpp"
#include "hardware/scaled_fits.hpp"
#include "models/catalog.hpp"
#include "models/format.hpp"
#include "sim/scenario/collective_flows.hpp"
#include "sim/scenario/fleet_plan.hpp"
#include "sim/scenario/no_effect.hpp"
#include "sim/scenario/node_places.hpp"
#include "sim/scenario/pool_inheritance.hpp"
#include "sim/scenario/precision.hpp"
#include "sim/scenario/scenario_paths.hpp"
#include "sim/scenario/serving_pools.hpp"
#include "sim/scenario/unique_names.hpp"
#include "sim/scenario/where.hpp"

namespace llmscape::scenario {

namespace {

// What to do with a file of another schema that was given as a scenario.
std::string use_of(const std::string& schema) {
  if (schema == "device/1") return "a scenario names it: 'hardware: {devices: [{preset: ./its-file.yaml, count: 1}]}'";
  if (schema == "model/1") return "a scenario names it: 'model: {preset: ...}'";
  if (schema == "workload/1") return "a scenario names it: 'workload: {preset: ...}'";
  if (schema == "sweep/1") return "'llmscape sweep' runs plans";
  return "use 'schema: scenario/1'";
}

// False where the file is of another kind: none of its keys means anything here.
bool take_schema(YamlNode& root, Diagnostics& diagnostics) {
  const YamlNode* schema = root.find("schema");
  const bool scenario = !schema || schema->text.starts_with("scenario/");
  if (!schema) diagnostics.error(root.where, "'schema' is required", "begin with 'schema: scenario/1'");
  else if (schema->text != "scenario/1")
    diagnostics.error(schema->where, "this is '" + schema->text + "', not a scenario", use_of(schema->text));
  root.erase("schema");
  return scenario;
}

void spell_out_model(YamlNode& model) {
  if (!model.is_scalar()) return;
  YamlNode mapping;
  mapping.kind = YamlNode::Kind::mapping;
  mapping.where = model.where;
  mapping.set("preset", model);
  model = std::move(mapping);
}

// Models without a mistake or a warning are remembered under that name.
std::optional<models::ModelSpec> remembered_model(const Catalogs& catalogs, const std::filesystem::path& name,
                                                  const std::function<std::optional<models::ModelSpec>()>& load,
                                                  const Diagnostics& diagnostics) {
  if (!catalogs.remembered) return load();
  auto& known = catalogs.remembered->models;
  const auto found = known.find(name);
  Catalogs::ReadModel read;
  const std::size_t said = diagnostics.size();
  if (found == known.end()) {
    const OpenedFiles opened;
    read.model = load();
    read.files = opened.paths();
  }
  const Catalogs::ReadModel& model = found == known.end() ? read : found->second;
  for (const std::filesystem::path& file : model.files) note_opened(file);
  if (found == known.end() && diagnostics.size() == said) known.emplace(name, read);
  return model.model;
}

// `node` is where the description stands.
std::optional<models::ModelSpec> read_model(const ModelConfig& config, const YamlNode& node, const Catalogs& catalogs,
                                            const std::filesystem::path& folder, Diagnostics& diagnostics) {
  std::optional<models::ModelSpec> model;
  if (config.preset) {
    model = remembered_model(
        catalogs, *config.preset,
        [&] { return models::load_model(catalogs.models, *config.preset, where_of(node, {"preset"}), diagnostics); },
        diagnostics);
  } else {
    const std::filesystem::path path = folder / *config.hf_config;
    if (std::filesystem::is_regular_file(path)) {
      model = remembered_model(
          catalogs, std::filesystem::absolute(path), [&] { return models::load_model_file(path, diagnostics); },
          diagnostics);
    } else {
      diagnostics.error(where_of(node, {"hf_config"}), "there is no file '" + path.string() + "'");
    }
  }
  if (!model) return std::nullopt;
  if (config.weights) models::set_weights(*model, *models::format_named(*config.weights));
  if (config.activations) models::set_activations(*model, *models::format_named(*config.activations));
  if (config.kv) model->precision.kv = models::kv_format_of(*config.kv);
  for (const std::string& problem : models::kv_format_problems(model->precision.kv, *model))
    diagnostics.error(where_of(node, {"kv"}), problem);
  if (config.attention) {
    model->precision.attention = models::format_named(*config.attention);
    model->precision.attention_output.reset();
    for (models::LayerGroup& group : model->groups) group.own_attention.reset();
  }
  if (config.experts) model->precision.experts = models::format_named(*config.experts);
  if (config.embeddings) models::set_embeddings(*model, *models::format_named(*config.embeddings));
  const std::vector<std::string> problems = config.token_plan->problems(*model);
  for (const std::string& problem : problems) diagnostics.error(where_of(node, {"token_plan"}), problem);
  if (!problems.empty()) return std::nullopt;
  config.token_plan->apply(*model);
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

// The models that only make drafts.
void read_drafts(Scenario& scenario, const YamlNode& root, const Catalogs& catalogs, Diagnostics& diagnostics) {
  for (const PoolConfig& pool : scenario.pools) {
    if (!pool.speculation || !pool.speculation->draft.model) continue;
    const std::string& name = *pool.speculation->draft.model;
    const auto& devices = scenario.config.hardware.devices;
    const auto own = std::ranges::find_if(devices, [&](const auto& d) { return d->name == pool.devices.front(); });
    const hardware::Device& device = pool.speculation->draft.device ? *pool.speculation->draft.device : **own;
    const auto known = std::ranges::find(scenario.model_names, name);
    if (known != scenario.model_names.end()) {
      scenario.drafts.emplace(name, scenario.models[static_cast<std::size_t>(known - scenario.model_names.begin())]);
    } else if (!scenario.drafts.contains(name)) {
      const SourceRange where = where_of(root, {"serving", "speculation", "draft", "model"});
      if (auto model = remembered_model(
              catalogs, name, [&] { return models::load_model(catalogs.models, name, where, diagnostics); },
              diagnostics))
        settle_draft_precision(scenario.drafts.emplace(name, std::move(*model)).first->second, device);
    }
  }
}

models::ExpertCoverage::Law coverage_of(workloads::Tokens tokens) {
  using Law = models::ExpertCoverage::Law;
  switch (tokens) {
    case workloads::Tokens::random: return Law::uniform;
    case workloads::Tokens::skewed: return Law::skewed;
    default: return Law::related;
  }
}

// A key of versions before: what it said is a property of the workload.
void refuse_expert_coverage(const YamlNode& root, Diagnostics& diagnostics) {
  const auto refuse = [&](const YamlNode* engine) {
    const YamlNode* old = engine && engine->is_mapping() ? engine->find("expert_coverage") : nullptr;
    if (old)
      diagnostics.error(old->where, "'expert_coverage' is now a property of the workload",
                        old->text == "uniform" ? "workload: {tokens: random}" : "workload: {tokens: text}");
  };
  const YamlNode* serving = root.find("serving");
  refuse(serving);
  const YamlNode* pools = serving && serving->is_mapping() ? serving->find("pools") : nullptr;
  if (pools && pools->is_sequence())
    for (const YamlNode& pool : pools->items) refuse(&pool);
}

// Entries of the device catalogue bring their fits along, which follow the figures that are laid over them.
void adapt_preset(std::string_view catalog, YamlNode& merged, const YamlNode& entry) {
  if (catalog == "hardware") hardware::scale_fits(merged, entry);
}

const YamlNode* written_devices(const YamlNode& root) {
  const YamlNode* hardware = root.find("hardware");
  const YamlNode* devices = hardware ? hardware->find("devices") : nullptr;
  return devices && devices->is_sequence() ? devices : nullptr;
}

// Devices that are written out whole, as those of a saved scenario are, have been fitted at the figures that they were
// written with: overrides scale their fits as they do those of a preset.
void scale_written_devices(YamlNode& root, const YamlNode& written) {
  const YamlNode* before = written_devices(written);
  YamlNode* hardware = root.find("hardware");
  YamlNode* devices = hardware ? hardware->find("devices") : nullptr;
  if (!before || !devices) return;
  for (std::size_t i = 0; i < std::min(before->items.size(), devices->items.size()); ++i)
    if (!before->items[i].find("preset") && !devices->items[i].find("preset"))
      hardware::scale_fits(devices->items[i], before->items[i]);
}

}  // namespace

void spell_out_scenario(YamlNode& root) {
  if (YamlNode* model = root.find("model")) spell_out_model(*model);
  if (YamlNode* models = root.find("models"); models && models->is_mapping())
    for (YamlNode::Entry& entry : models->entries) spell_out_model(entry.value);
  spell_out_scalars(root, scenario_fields().info());
}

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

std::size_t Scenario::group_of(const std::string& name) const {
  const auto& groups = config.hardware.devices;
  return static_cast<std::size_t>(std::ranges::find(groups, name, [](const auto& device) { return device->name; }) -
                                  groups.begin());
}

int Scenario::model_index(const PoolConfig& pool) const {
  return static_cast<int>(std::ranges::find(model_names, pool.model.value_or("")) - model_names.begin());
}

PresetLoader preset_loader(const Catalogs& catalogs, const std::filesystem::path& folder) {
  return [catalogs, folder](std::string_view catalog, std::string_view name, const SourceRange& where,
                            Diagnostics& diagnostics) -> std::optional<YamlNode> {
    const auto load = [&](const std::filesystem::path& entries, std::string_view kind) {
      const bool own = name.ends_with(".yaml");
      const std::filesystem::path path = (own ? folder : entries) / name;
      if (catalogs.remembered)
        if (const auto known = catalogs.remembered->descriptions.find(path);
            known != catalogs.remembered->descriptions.end()) {
          note_opened(path);
          return std::optional(known->second);
        }
      auto tree =
          own ? description_file(path, kind, diagnostics) : catalog_entry(entries, kind, name, where, diagnostics);
      if (tree && catalogs.remembered) catalogs.remembered->descriptions.emplace(path, *tree);
      return tree;
    };
    if (catalog == "prices") {
      if (name.ends_with(".yaml")) return load({}, "prices");
      diagnostics.error(where, fmt::format("there are no prices '{}': none are shipped", name),
                        "write your own into a file and name that: prices.yaml");
      return std::nullopt;
    }
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
  if (!take_schema(root, diagnostics)) return std::nullopt;
  spell_out_scenario(root);
  const YamlNode written = overrides.empty() ? YamlNode() : root;
  for (const std::string& assignment : overrides) {
    apply_override(root, assignment, diagnostics);
    spell_out_scenario(root);  // one override may name what the next one goes into
  }
  if (seed) apply_override(root, "seed=" + std::to_string(*seed), diagnostics);
  refuse_expert_coverage(root, diagnostics);
  inherit_engine(root);
  lay_engine_defaults(root, diagnostics);
  scale_written_devices(root, written);
  TreeMemory* memory = catalogs.remembered ? &catalogs.remembered->trees : nullptr;
  expand_presets(root, scenario_fields().info(), preset_loader(catalogs, folder), diagnostics, adapt_preset, memory);

  Scenario scenario;
  scenario.folder = folder;
  {
    const AnchoredPaths found_from(root, folder);
    if (!scenario_fields().read(scenario.config, root, diagnostics) || diagnostics.has_errors()) return std::nullopt;
  }
  const ScenarioConfig& config = scenario.config;
  scenario.workload_where = where_of(root, {"workload"});
  scenario.config.serving.expert_coverage = coverage_of(config.workload.tokens);
  for (PoolConfig& pool : scenario.config.serving.pools) pool.expert_coverage = scenario.config.serving.expert_coverage;
  check_unique_names(root, diagnostics);
  read_models(scenario, root, catalogs, diagnostics);
  if (!diagnostics.has_errors()) {
    scenario.pools = resolve_pools(scenario, root, diagnostics);
    if (!diagnostics.has_errors()) settle_precision(scenario, root, diagnostics);
    if (!diagnostics.has_errors()) read_drafts(scenario, root, catalogs, diagnostics);
    if (!diagnostics.has_errors()) check_pools(scenario, root, diagnostics);
  }
  if (config.cost) {
    std::vector<std::string> groups;
    for (const auto& device : config.hardware.devices) groups.push_back(device->name);
    if (config.hardware.retrieval) groups.push_back(config.hardware.retrieval->host.name);
    result::check_cost(*config.cost, groups, root, diagnostics);
  }
  scenario.slo_classes.push_back("");
  scenario.slos.push_back({config.slo.ttft, config.slo.tpot, config.slo.e2e});
  for (const auto& [name, limits] : config.slo.classes) {
    scenario.slo_classes.push_back(name);
    scenario.slos.push_back(limits);
  }
  if (diagnostics.has_errors()) return std::nullopt;

  fill_defaults(root, scenario_fields().info(), memory);
  scenario.fleet = fleet_plan(scenario, root);
  check_fleet(scenario, root, diagnostics);
  check_groups_of_fabric(scenario, root, diagnostics);
  check_topology(scenario, root, diagnostics);
  check_collective_flows(scenario, root, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  warn_of_no_effect(scenario);
  warn_of_adapters_of_streams(scenario);
  YamlNode schema = YamlNode::scalar("scenario/1");
  scenario.resolved.kind = YamlNode::Kind::mapping;
  scenario.resolved.set("schema", std::move(schema));
  for (auto& entry : root.entries) scenario.resolved.set(entry.key, std::move(entry.value));
  return scenario;
}

}  // namespace llmscape::scenario
