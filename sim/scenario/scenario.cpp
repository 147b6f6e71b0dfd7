// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "base/catalog.hpp"
#include "base/opened_files.hpp"
#include "hardware/scaled_fits.hpp"
#include "sim/scenario/collective_flows.hpp"
#include "sim/scenario/faults.hpp"
#include "sim/scenario/fleet_plan.hpp"
#include "sim/scenario/no_effect.hpp"
#include "sim/scenario/node_places.hpp"
#include "sim/scenario/pool_inheritance.hpp"
#include "sim/scenario/precision.hpp"
#include "sim/scenario/scenario_models.hpp"
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
  return {folder,
          slo_classes,
          models.size() > 1 ? model_names : std::vector<std::string>(),
          workload_where,
          config.hardware.retrieval.has_value(),
          where_trace,
          where_format};
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

void report_overridden(std::vector<std::string> overrides, std::optional<std::int64_t> seed, Diagnostics& diagnostics) {
  if (seed) overrides.push_back(fmt::format("seed={}", *seed));
  std::vector<std::vector<std::string>> paths;
  for (const std::string& text : overrides) paths.push_back(override_path({}, text.substr(0, text.find('='))));
  const auto replaces = [](const auto& later, const auto& earlier) {
    return later.size() <= earlier.size() && std::equal(later.begin(), later.end(), earlier.begin());
  };
  for (std::size_t i = 0; i < paths.size(); ++i)
    for (std::size_t j = i + 1; j < paths.size(); ++j) {
      if (!replaces(paths[j], paths[i])) continue;
      const std::string path = overrides[i].substr(0, overrides[i].find('='));
      const auto source = std::make_shared<const SourceText>(SourceText{"--set " + overrides[i], overrides[i]});
      diagnostics.error({source, 1, 1, static_cast<int>(std::max<std::size_t>(1, path.size()))},
                        fmt::format("{} has no effect: {} is set later", in_quotes(path), in_quotes(overrides[j])),
                        "leave one of the two out");
      break;
    }
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
  scenario.where_trace = where_of(root, {"workload", "replay", "trace"});
  scenario.where_format = where_of(root, {"workload", "replay", "format"});
  scenario.config.serving.expert_coverage = coverage_of(config.workload.tokens);
  for (PoolConfig& pool : scenario.config.serving.pools) pool.expert_coverage = scenario.config.serving.expert_coverage;
  check_unique_names(root, diagnostics);
  const bool models_known = read_models(scenario, root, catalogs, diagnostics);
  if (!diagnostics.has_errors()) {
    scenario.pools = resolve_pools(scenario, root, diagnostics);
    if (!diagnostics.has_errors()) settle_precision(scenario, root, diagnostics);
    if (!diagnostics.has_errors()) read_drafts(scenario, root, catalogs, diagnostics);
    if (!diagnostics.has_errors()) check_pools(scenario, root, diagnostics);
  }
  const bool pools_known = !diagnostics.has_errors();
  check_groups_of_fabric(scenario, root, diagnostics);
  check_fault_groups(scenario, root, diagnostics);
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
  if (pools_known) {
    fill_defaults(root, scenario_fields().info(), memory);
    scenario.fleet = fleet_plan(scenario, root);
    check_fleet(scenario, root, diagnostics);
    check_topology(scenario, root, diagnostics);
    check_collective_flows(scenario, root, diagnostics);
  }
  if (diagnostics.has_errors()) {
    // What is wrong with the workload, which its reader checks otherwise, is told with the rest.
    if (models_known)
      workloads::make_generator(config.workload, scenario.workload_context(), RandomStreams(1), diagnostics);
    return std::nullopt;
  }
  warn_of_no_effect(scenario);
  warn_of_adapters_of_streams(scenario);
  YamlNode schema = YamlNode::scalar("scenario/1");
  scenario.resolved.kind = YamlNode::Kind::mapping;
  scenario.resolved.set("schema", std::move(schema));
  for (auto& entry : root.entries) scenario.resolved.set(entry.key, std::move(entry.value));
  return scenario;
}

}  // namespace llmscape::scenario
