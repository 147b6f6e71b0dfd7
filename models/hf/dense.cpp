// SPDX-License-Identifier: Apache-2.0
// Dense families. Biases, norms and defaults that config.json does not spell out are those of the family's modelling
// file in huggingface/transformers (models/<family>/modeling_<family>.py and configuration_<family>.py).
#include "models/hf/families.hpp"
#include "models/hf/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace llmscape::models::hf {
namespace {

// All layers alike but for the window.
void add_layers(ConfigReader& config, ModelSpec& model, const LayerGroup& layer, std::int64_t layers,
                std::int64_t window, const std::function<bool(std::int64_t)>& slides) {
  const auto windows = windows_of(config, layers, window, model.max_position, slides);
  model.groups = groups_of(layer, windows, [&](std::int64_t) { return layer.feed_forward; });
}

// The layers from max_window_layers on have the window, and only if use_sliding_window is set.
void add_dense_qwen_layers(ConfigReader& config, ModelSpec& model, const LayerGroup& layer) {
  const std::int64_t window = config.flag("use_sliding_window", false) ? config.count("sliding_window", 4096) : 0;
  const std::int64_t first = config.count("max_window_layers", 28);
  add_layers(config, model, layer, config.integer("num_hidden_layers"), window,
             [&](std::int64_t i) { return i >= first; });
}

}  // namespace

ModelSpec read_llama(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = heads_of(config, model.hidden);
  layer.softmax().qkv_bias = layer.softmax().output_bias = config.flag("attention_bias", false);
  layer.feed_forward = dense_of(config, config.flag("mlp_bias", false));
  add_layers(config, model, layer, config.integer("num_hidden_layers"), config.count("sliding_window", 0), every_layer);
  return model;
}

ModelSpec read_smollm3(ConfigReader& config) {
  ModelSpec model = read_llama(config);
  model.tied_embeddings = config.flag("tie_word_embeddings", true);
  return model;
}

ModelSpec read_qwen2(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = heads_of(config, model.hidden);
  layer.softmax().qkv_bias = true;
  layer.feed_forward = dense_of(config);
  add_dense_qwen_layers(config, model, layer);
  return model;
}

ModelSpec read_qwen3(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = heads_of(config, model.hidden, {.head_dim = 128});
  layer.softmax().qkv_bias = layer.softmax().output_bias = config.flag("attention_bias", false);
  layer.softmax().qk_norm = true;
  layer.feed_forward = dense_of(config);
  add_dense_qwen_layers(config, model, layer);
  return model;
}

ModelSpec read_phi3(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = heads_of(config, model.hidden);
  layer.feed_forward = dense_of(config);
  add_layers(config, model, layer, config.integer("num_hidden_layers"), config.count("sliding_window", 0), every_layer);
  return model;
}

ModelSpec read_gemma2(ConfigReader& config) {
  ModelSpec model = frame_of(config, true);
  LayerGroup layer;
  layer.norms = 4;  // before and after both attention and feed-forward
  layer.mixer = heads_of(config, model.hidden, {.head_dim = 256});
  layer.softmax().qkv_bias = layer.softmax().output_bias = config.flag("attention_bias", false);
  layer.feed_forward = dense_of(config);
  add_layers(config, model, layer, config.integer("num_hidden_layers"), config.count("sliding_window", 4096),
             [](std::int64_t i) { return i % 2 == 0; });
  return model;
}

// Published files leave out what equals the default of Gemma3TextConfig.
ModelSpec read_gemma3(ConfigReader& config) {
  ModelSpec model;
  model.hidden = config.integer("hidden_size", 2304);
  model.vocabulary = config.integer("vocab_size", 262208);
  model.max_position = config.integer("max_position_embeddings", 131072);
  model.tied_embeddings = config.flag("tie_word_embeddings", true);
  LayerGroup layer;
  layer.norms = 4;
  layer.mixer = heads_of(config, model.hidden, {.heads = 8, .kv_heads = 4, .head_dim = 256});
  layer.softmax().qkv_bias = layer.softmax().output_bias = config.flag("attention_bias", false);
  layer.softmax().qk_norm = true;
  layer.feed_forward.width = config.integer("intermediate_size", 9216);
  const std::int64_t pattern = config.integer("sliding_window_pattern", 6);  // the last of each so many layers is full
  add_layers(config, model, layer, config.integer("num_hidden_layers", 26), config.count("sliding_window", 4096),
             [&](std::int64_t i) { return (i + 1) % pattern != 0; });
  return model;
}

// Sliding layers and full ones differ in heads too. Where `attention_k_eq_v`, the full ones have no projection of their
// own to values. With experts, a dense part runs beside them, and four more norms: of its output, of the experts' input
// and output, and of what the router reads, which also has a scale for each expert.
ModelSpec read_gemma4(ConfigReader& config) {
  ModelSpec model = frame_of(config, true);
  for (const char* key : {"hidden_size_per_layer_input", "num_kv_shared_layers"})
    if (config.count(key, 0) > 0) config.error(key, fmt::format("'{}' above 0 is not modelled", key));
  if (config.flag("use_double_wide_mlp", false))
    config.error("use_double_wide_mlp", "feed-forward parts of two widths are not modelled");
  LayerGroup layer;
  layer.norms = 4;
  FeedForward& kind = layer.feed_forward;
  if (config.flag("enable_moe_block", false)) {
    layer.norms = 8;
    kind.experts = static_cast<int>(config.integer("num_experts"));
    kind.experts_per_token = static_cast<int>(config.integer("top_k_experts"));
    kind.expert_width =
        config.integer(config.has("moe_intermediate_size") ? "moe_intermediate_size" : "expert_intermediate_size");
    kind.shared_width = config.integer("intermediate_size");
    kind.router_bias = true;
    check_experts(config, kind, "top_k_experts");
  } else {
    kind = dense_of(config);
  }
  SoftmaxAttention sliding = heads_of(config, model.hidden, {.head_dim = 256});
  sliding.qkv_bias = sliding.output_bias = config.flag("attention_bias", false);
  sliding.qk_norm = true;
  SoftmaxAttention full = sliding;
  full.head_dim = static_cast<int>(config.integer("global_head_dim", sliding.head_dim));
  full.keys_as_values = config.flag("attention_k_eq_v", false);
  if (full.keys_as_values)
    full.kv_heads = static_cast<int>(config.integer("num_global_key_value_heads", sliding.kv_heads));
  const auto windows = windows_of(config, config.integer("num_hidden_layers"), config.count("sliding_window", 512),
                                  model.max_position, [](std::int64_t i) { return (i + 1) % 6 != 0; });
  std::vector<LayerGroup> all;
  for (const std::int64_t window : windows) {
    SoftmaxAttention attention = window > 0 ? sliding : full;
    attention.window = window;
    layer.mixer = attention;
    all.push_back(layer);
  }
  model.groups = alike(all);
  return model;
}

ModelSpec read_opt(ConfigReader& config) {
  ModelSpec model = frame_of(config, true);
  model.position_table = model.max_position + 2;  // OPTLearnedPositionalEmbedding: two rows of offset
  const std::int64_t embedding = config.integer("word_embed_proj_dim", model.hidden);
  if (embedding != model.hidden) model.embedding_width = embedding;
  model.final_norm = config.flag("do_layer_norm_before", true) && !config.flag("_remove_final_layer_norm", false);
  const bool bias = config.flag("enable_bias", true);
  LayerGroup layer;
  layer.norm_bias = true;
  layer.mixer = heads_of(config, model.hidden);
  layer.softmax().qkv_bias = layer.softmax().output_bias = bias;
  layer.feed_forward.width = config.integer("ffn_dim");
  layer.feed_forward.gated = false;
  layer.feed_forward.bias = bias;
  add_layers(config, model, layer, config.integer("num_hidden_layers"), 0, every_layer);
  return model;
}

// Neural architecture search took attention out of some layers and made feed-forward parts narrower: block_configs says
// what is left of each (configuration_decilm.py).
ModelSpec read_decilm(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  const std::int64_t heads = config.integer("num_attention_heads");
  const YamlNode* blocks = config.find("block_configs");
  if (!blocks || !blocks->is_sequence()) {
    config.error("block_configs", "'block_configs' must say what each layer has");
    return model;
  }
  std::vector<LayerGroup> layers;
  const YamlNode none;
  for (const YamlNode& block : blocks->items) {
    const YamlNode *attention = block.find("attention"), *feed_forward = block.find("ffn");
    ConfigReader mixes(attention ? *attention : none, config.diagnostics());
    ConfigReader feeds(feed_forward ? *feed_forward : none, config.diagnostics());
    for (ConfigReader* part : {&mixes, &feeds})
      if (part->flag("replace_with_linear", false))
        part->error("replace_with_linear", "a part of a layer that is one matrix is not modelled");
    LayerGroup layer;
    layer.norms = 0;
    layer.mixer = NoMixer();
    if (!mixes.flag("no_op", false)) {
      SoftmaxAttention softmax;
      softmax.heads = static_cast<int>(heads);
      softmax.kv_heads = static_cast<int>(heads / mixes.integer("n_heads_in_group"));
      softmax.head_dim = static_cast<int>(model.hidden / heads);
      layer.mixer = softmax;
      ++layer.norms;
    }
    if (!feeds.flag("no_op", false)) {
      const YamlNode* factor = feeds.find("ffn_mult");
      const double share = factor ? std::strtod(factor->text.c_str(), nullptr) : 0;
      if (!(share > 0 && share < 64)) feeds.error("ffn_mult", "'ffn_mult' must be a number above 0");
      constexpr std::int64_t kMultiple = 256;
      const auto width = static_cast<std::int64_t>(2 * share * static_cast<double>(model.hidden) / 3);
      layer.feed_forward.width = std::max<std::int64_t>(1, (width + kMultiple - 1) / kMultiple) * kMultiple;
      ++layer.norms;
    }
    layers.push_back(layer);
  }
  model.groups = alike(layers);
  return model;
}

}  // namespace llmscape::models::hf
