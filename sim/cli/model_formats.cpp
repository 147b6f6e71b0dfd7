// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/model_formats.hpp"

#include <algorithm>

#include "models/catalog.hpp"
#include "models/native.hpp"
#include "sim/cli/catalogs.hpp"

namespace llmscape::cli {

std::optional<models::ModelSpec> model_of(const std::string& name, Diagnostics& diagnostics) {
  return name.ends_with(".json") || name.ends_with(".yaml")
             ? models::load_model_file(name, diagnostics)
             : models::load_model(catalogs().models, name, {}, diagnostics);
}

void widen_to_hidden_states(YamlNode& formats, const std::string& model, Diagnostics& diagnostics) {
  constexpr const char* kWide = "fp32";
  constexpr double kNotQuantised = 2;  // bytes
  const YamlNode* activations = formats.find("activations");
  if (!activations || activations->text != kWide) return;
  const auto checkpoint = model_of(model, diagnostics);
  if (!checkpoint) return;
  const models::Precision& own = checkpoint->precision;
  const bool quantised = std::min(own.weights.bytes, own.expert_weights().bytes) < kNotQuantised;
  const YamlNode* weights = formats.find("weights");
  if (weights ? weights->text == "bf16" : !quantised) formats.set("weights", YamlNode::scalar(kWide));
  if (!formats.find("kv")) formats.set("kv", YamlNode::scalar(kWide));
}

}  // namespace llmscape::cli
