// SPDX-License-Identifier: Apache-2.0
#include "models/hf/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace llmscape::models::hf {
namespace {

std::vector<std::int64_t> windows_by_type(ConfigReader& config, const YamlNode& types, std::int64_t layers,
                                          std::int64_t window) {
  std::vector<std::int64_t> windows;
  for (const YamlNode& type : types.items) {
    if (type.text == "sliding_attention" && window == 0) {
      config.diagnostics().error(type.where, "a layer of sliding attention needs 'sliding_window'");
    } else if (type.text != "sliding_attention" && type.text != "full_attention") {
      config.diagnostics().error(type.where, fmt::format("layer type '{}' is not modelled", type.text),
                                 "known: full_attention, sliding_attention");
    }
    windows.push_back(type.text == "sliding_attention" ? window : 0);
  }
  if (static_cast<std::int64_t>(windows.size()) != layers)
    config.error("layer_types",
                 fmt::format("'layer_types' names {} layers, 'num_hidden_layers' is {}", windows.size(), layers));
  return windows;
}

// Engines stretch a context by YaRN to so many times the original one (vLLM's _get_and_verify_max_len). Files of models
// that were trained so state the result; others, as Qwen3's cards have it, what it was before.
std::int64_t stretched_context(ConfigReader& config, std::int64_t stated) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const YamlNode* rope = config.find(key);
    if (!rope || !rope->is_mapping()) continue;
    const auto says = [&](const char* name, const char* text) {
      const YamlNode* found = rope->find(name);
      return found && found->is_scalar() && found->text == text;
    };
    const YamlNode* factor = rope->find("factor");
    if (!factor || !factor->is_scalar() || !(says("rope_type", "yarn") || says("type", "yarn"))) continue;
    ConfigReader inner(*rope, config.diagnostics());
    const double times = std::strtod(factor->text.c_str(), nullptr);
    const auto original = static_cast<double>(inner.integer("original_max_position_embeddings", stated));
    if (times > 1 && times * original < 1e9) stated = std::max<std::int64_t>(stated, std::llround(times * original));
  }
  return stated;
}

}  // namespace

ModelSpec frame_of(ConfigReader& config, bool tied) {
  ModelSpec model;
  model.hidden = config.integer("hidden_size");
  model.vocabulary = config.integer("vocab_size");
  model.max_position = stretched_context(config, config.integer("max_position_embeddings"));
  model.tied_embeddings = config.flag("tie_word_embeddings", tied);
  return model;
}

SoftmaxAttention heads_of(ConfigReader& config, std::int64_t hidden, const HeadDefaults& defaults) {
  SoftmaxAttention attention;
  const int errors = config.diagnostics().errors();
  const std::int64_t heads = defaults.heads > 0 ? config.integer("num_attention_heads", defaults.heads)
                                                : config.integer("num_attention_heads");
  const std::int64_t kv_heads =
      config.integer("num_key_value_heads", defaults.kv_heads > 0 ? defaults.kv_heads : heads);
  const bool read = config.diagnostics().errors() == errors;
  if (read && heads % kv_heads != 0)
    config.error("num_key_value_heads", fmt::format("{} KV heads do not divide {} attention heads", kv_heads, heads));
  std::int64_t head_dim = config.integer("head_dim", defaults.head_dim);
  if (head_dim == 0) {
    head_dim = std::max<std::int64_t>(1, hidden / heads);
    if (read && hidden > 1 && hidden % heads != 0)  // 1 is what could not be read
      config.error("num_attention_heads",
                   fmt::format("{} heads do not divide hidden_size {}, and there is no 'head_dim'", heads, hidden));
  }
  attention.heads = static_cast<int>(heads);
  attention.kv_heads = static_cast<int>(kv_heads);
  attention.head_dim = static_cast<int>(head_dim);
  return attention;
}

std::vector<std::int64_t> windows_of(ConfigReader& config, std::int64_t layers, std::int64_t window,
                                     std::int64_t max_position, const std::function<bool(std::int64_t)>& slides) {
  std::vector<std::int64_t> windows;
  if (const YamlNode* types = config.find("layer_types")) {
    windows = windows_by_type(config, *types, layers, window);
  } else {
    for (std::int64_t layer = 0; layer < layers; ++layer) windows.push_back(slides(layer) ? window : 0);
  }
  if (window >= max_position) std::fill(windows.begin(), windows.end(), 0);
  return windows;
}

FeedForward dense_of(ConfigReader& config, bool bias) {
  FeedForward kind;
  kind.width = config.integer("intermediate_size");
  kind.bias = bias;
  return kind;
}

void check_experts(ConfigReader& config, const FeedForward& kind, std::string_view per_token_key) {
  if (kind.experts_per_token > kind.experts)
    config.error(per_token_key, fmt::format("{} experts per token are more than the {} experts", kind.experts_per_token,
                                            kind.experts));
}

std::vector<LayerGroup> groups_of(LayerGroup layer, const std::vector<std::int64_t>& windows,
                                  const std::function<FeedForward(std::int64_t)>& feed_forward) {
  std::vector<LayerGroup> groups;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (auto* attention = std::get_if<SoftmaxAttention>(&layer.mixer)) attention->window = windows[i];
    layer.feed_forward = feed_forward(static_cast<std::int64_t>(i));
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& group) {
      return group.mixer == layer.mixer && group.feed_forward == layer.feed_forward;
    });
    LayerGroup& group = same != groups.end() ? *same : groups.emplace_back(layer);
    ++group.count;
  }
  return groups;
}

std::vector<LayerGroup> alike(const std::vector<LayerGroup>& layers) {
  std::vector<LayerGroup> groups;
  for (const LayerGroup& layer : layers) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& group) {
      return group.mixer == layer.mixer && group.feed_forward == layer.feed_forward && group.norms == layer.norms;
    });
    LayerGroup& group = same != groups.end() ? *same : groups.emplace_back(layer);
    ++group.count;
  }
  return groups;
}

}  // namespace llmscape::models::hf
