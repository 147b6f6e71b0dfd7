// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/scenario_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/opened_files.hpp"
#include "models/catalog.hpp"
#include "models/format.hpp"
#include "sim/scenario/precision.hpp"
#include "sim/scenario/where.hpp"

namespace llmscape::scenario {
namespace {

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

}  // namespace

bool read_models(Scenario& scenario, const YamlNode& root, const Catalogs& catalogs, Diagnostics& diagnostics) {
  const auto add = [&](const std::string& name, const ModelConfig& config, const YamlNode& node) {
    if (auto model = read_model(config, node, catalogs, scenario.folder, diagnostics)) {
      scenario.model_names.push_back(name);
      scenario.models.push_back(std::move(*model));
    }
  };
  add("", scenario.config.model, *root.find("model"));
  for (const auto& [name, config] : scenario.config.models) {
    const YamlNode& node = *root.find("models")->find(name);
    if (name.empty()) diagnostics.error(node.where, "a model needs a name");
    if (name == kMainModel)
      diagnostics.error(node.where, fmt::format("'{}' is the name of the model under 'model'", name), "another name");
    add(name, config, node);
  }
  if (scenario.models.size() != scenario.config.models.size() + 1) return false;
  scenario.model = scenario.models.front();
  return true;
}

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

}  // namespace llmscape::scenario
