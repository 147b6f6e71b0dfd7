// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/precision.hpp"

#include <algorithm>

#include "hardware/precision.hpp"
#include "sim/scenario/where.hpp"

namespace llmscape::scenario {
namespace {

// A checkpoint's own quantisation holds unless the scenario stores the weights in another way.
hardware::ActivationsBy activations_by(const ModelConfig& config) {
  if (config.activations) return hardware::ActivationsBy::user;
  return config.weights || config.attention || config.experts ? hardware::ActivationsBy::engine
                                                              : hardware::ActivationsBy::checkpoint;
}

const ModelConfig& config_of(const Scenario& scenario, const std::string& name) {
  return name.empty() ? scenario.config.model : scenario.config.models.at(name);
}

// A format of experts that a model does not have is told, and not shown in results.
void drop_formats_without_experts(Scenario& scenario) {
  const auto routed = [](const models::LayerGroup& group) { return group.feed_forward.routed(); };
  for (std::size_t i = 0; i < scenario.models.size(); ++i) {
    models::ModelSpec& model = scenario.models[i];
    const std::string& name = scenario.model_names[i];
    if (!config_of(scenario, name).experts || std::ranges::any_of(model.groups, routed)) continue;
    model.precision.experts.reset();
    scenario.warnings.push_back((name.empty() ? "model" : "models." + name) + ".experts has no effect: " + model.name +
                                " has no routed experts");
  }
}

}  // namespace

void settle_precision(Scenario& scenario, const YamlNode& root, Diagnostics& diagnostics) {
  drop_formats_without_experts(scenario);
  std::vector<bool> settled(scenario.models.size());
  const std::vector<models::ModelSpec> asked = scenario.models;
  for (const PoolConfig& pool : scenario.pools) {
    const int index = scenario.model_index(pool);
    if (index >= static_cast<int>(asked.size())) continue;  // no such model: reported elsewhere
    const auto i = static_cast<std::size_t>(index);
    const std::string& name = scenario.model_names[i];
    const ModelConfig& config = config_of(scenario, name);
    for (const auto& device : scenario.config.hardware.devices) {
      if (std::ranges::find(pool.devices, device->name) == pool.devices.end()) continue;
      auto served = hardware::served_precision(*device, asked[i].precision, activations_by(config));
      const SourceRange where = name.empty() ? where_of(root, {"model"}) : where_of(root, {"models", name});
      for (const std::string& problem : served.problems) diagnostics.error(where, problem);
      for (std::string& text : served.emulated)
        if (std::ranges::find(scenario.warnings, text) == scenario.warnings.end())
          scenario.warnings.push_back(std::move(text));
      models::ModelSpec model = asked[i];
      model.precision = served.precision;
      if (!settled[i]) scenario.models[i] = model;
      settled[i] = true;
      scenario.served.insert_or_assign({index, device->name}, std::move(model));
    }
  }
  if (!scenario.models.empty()) scenario.model = scenario.models.front();
}

std::vector<result::PrecisionUsed> precision_used(const Scenario& scenario) {
  std::vector<result::PrecisionUsed> all;
  for (const auto& [key, model] : scenario.served) {
    const models::Precision& p = model.precision;
    all.push_back({model.name, key.second, p.weights.name, p.attention_weights().name, p.output_weights().name,
                   p.expert_weights().name, p.embedding_weights().name, p.activations.name, p.kv.name(),
                   hardware::in_words(p)});
  }
  return all;
}

void settle_draft_precision(models::ModelSpec& draft, const hardware::Device& device) {
  draft.precision = hardware::served_precision(device, draft.precision, hardware::ActivationsBy::checkpoint).precision;
}

}  // namespace llmscape::scenario
