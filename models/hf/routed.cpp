// SPDX-License-Identifier: Apache-2.0
// Families with routed experts; what config.json does not spell out is as in the family's modelling file in
// huggingface/transformers.
#include "models/hf/families.hpp"
#include "models/hf/layers.hpp"

#include <fmt/format.h>

namespace llmscape::models::hf {
namespace {

FeedForward experts_of(ConfigReader& config, std::string_view experts, std::string_view per_token,
                       std::string_view width) {
  FeedForward kind;
  kind.experts = static_cast<int>(config.integer(experts));
  kind.experts_per_token = static_cast<int>(config.integer(per_token));
  kind.expert_width = config.integer(width);
  check_experts(config, kind, per_token);
  return kind;
}

// Qwen: a layer is routed if its number, counted from 1, is a multiple of decoder_sparse_step and it is not in
// mlp_only_layers.
void add_routed_qwen_layers(ConfigReader& config, ModelSpec& model, const LayerGroup& layer) {
  const std::int64_t layers = config.integer("num_hidden_layers");
  const std::int64_t step = config.integer("decoder_sparse_step", 1);
  const std::int64_t window = config.flag("use_sliding_window", false) ? config.count("sliding_window", 4096) : 0;
  const std::int64_t first = config.count("max_window_layers", 28);
  const YamlNode* dense_layers = config.find("mlp_only_layers");
  const auto routed = [&](std::int64_t i) {
    if ((i + 1) % step != 0) return false;
    if (!dense_layers) return true;
    for (const YamlNode& number : dense_layers->items)
      if (number.text == fmt::to_string(i)) return false;
    return true;
  };
  const FeedForward unrouted = dense_of(config);
  const auto windows =
      windows_of(config, layers, window, model.max_position, [&](std::int64_t i) { return i >= first; });
  model.groups = groups_of(layer, windows, [&](std::int64_t i) { return routed(i) ? layer.feed_forward : unrouted; });
}

LatentAttention latent_attention_of(ConfigReader& config) {
  LatentAttention attention;
  attention.heads = static_cast<int>(config.integer("num_attention_heads"));
  attention.q_rank = static_cast<int>(config.integer("q_lora_rank", 0));  // null in V2-Lite: no query compression
  attention.kv_rank = static_cast<int>(config.integer("kv_lora_rank"));
  attention.rope_dim = static_cast<int>(config.integer("qk_rope_head_dim"));
  attention.nope_dim = static_cast<int>(config.integer("qk_nope_head_dim"));
  attention.v_dim = static_cast<int>(config.integer("v_head_dim"));
  return attention;
}

}  // namespace

ModelSpec read_mixtral(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = heads_of(config, model.hidden);
  layer.feed_forward = experts_of(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  const auto windows = windows_of(config, config.integer("num_hidden_layers"), config.count("sliding_window", 0),
                                  model.max_position, every_layer);
  model.groups = groups_of(layer, windows, [&](std::int64_t) { return layer.feed_forward; });
  return model;
}

ModelSpec read_qwen2_moe(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = heads_of(config, model.hidden);
  layer.softmax().qkv_bias = true;
  layer.feed_forward = experts_of(config, "num_experts", "num_experts_per_tok", "moe_intermediate_size");
  layer.feed_forward.shared_width = config.integer("shared_expert_intermediate_size");
  layer.feed_forward.shared_gate = true;
  add_routed_qwen_layers(config, model, layer);
  return model;
}

ModelSpec read_qwen3_moe(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = heads_of(config, model.hidden);
  layer.softmax().qkv_bias = layer.softmax().output_bias = config.flag("attention_bias", false);
  layer.softmax().qk_norm = true;
  layer.feed_forward = experts_of(config, "num_experts", "num_experts_per_tok", "moe_intermediate_size");
  add_routed_qwen_layers(config, model, layer);
  return model;
}

// Without `n_group` a token's experts are chosen among all.
void read_groups(ConfigReader& config, FeedForward& routed) {
  const std::int64_t groups = config.integer("n_group", 1), chosen = config.integer("topk_group", groups);
  if (groups < 1 || routed.experts % groups != 0)
    return config.error("n_group", fmt::format("'n_group' must divide {} experts", routed.experts));
  if (chosen < 1 || chosen > groups)
    return config.error("topk_group", fmt::format("'topk_group' must be from 1 to the {} groups", groups));
  routed.expert_groups = static_cast<int>(groups);
  routed.groups_per_token = static_cast<int>(chosen);
}

ModelSpec read_deepseek(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = latent_attention_of(config);
  FeedForward routed = experts_of(config, "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size");
  routed.shared_width = config.count("n_shared_experts", 0) * routed.expert_width;
  routed.router_bias = config.text("topk_method") == "noaux_tc";  // e_score_correction_bias
  read_groups(config, routed);
  const std::int64_t first_routed = config.count("first_k_dense_replace", 0);
  const std::int64_t every = config.integer("moe_layer_freq", 1);
  const std::vector<std::int64_t> windows(static_cast<std::size_t>(config.integer("num_hidden_layers")), 0);
  const FeedForward unrouted = dense_of(config);
  model.groups = groups_of(layer, windows,
                           [&](std::int64_t i) { return i >= first_routed && i % every == 0 ? routed : unrouted; });
  return model;
}

// Layers that `indexer_types` calls "shared" take the entries of the one before them (GLM-5.2).
ModelSpec read_sparse_deepseek(ConfigReader& config) {
  ModelSpec model = read_deepseek(config);
  SparseIndex index;
  index.heads = static_cast<int>(config.integer("index_n_heads"));
  index.head_dim = static_cast<int>(config.integer("index_head_dim"));
  index.entries = config.integer("index_topk");
  std::vector<LayerGroup> all;
  for (const LayerGroup& group : model.groups)
    for (int i = 0; i < group.count; ++i) {
      all.push_back(group);
      all.back().count = 0;  // alike() counts
      std::get<LatentAttention>(all.back().mixer).index = index;
    }
  if (const YamlNode* types = config.find("indexer_types")) {
    if (types->items.size() != all.size())
      config.error("indexer_types", fmt::format("'indexer_types' names {} layers, 'num_hidden_layers' is {}",
                                                types->items.size(), all.size()));
    for (std::size_t i = 0; i < std::min(all.size(), types->items.size()); ++i) {
      const YamlNode& type = types->items[i];
      if (type.text == "shared") std::get<LatentAttention>(all[i].mixer).index = SparseIndex{0, 0, index.entries};
      else if (type.text != "full")
        config.diagnostics().error(type.where, fmt::format("index type '{}' is not modelled", type.text),
                                   "known: full, shared");
    }
  }
  model.groups = alike(all);
  return model;
}

// Every fourth layer is full; the others see chunks of 8,192 tokens that do not overlap, half of one in the mean.
ModelSpec read_llama4(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = heads_of(config, model.hidden, {.head_dim = 128});
  layer.softmax().qkv_bias = layer.softmax().output_bias = config.flag("attention_bias", false);
  FeedForward routed = experts_of(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  routed.shared_width = routed.expert_width;
  FeedForward unrouted;
  unrouted.width = config.integer("intermediate_size_mlp");
  const std::int64_t step = config.integer("interleave_moe_layer_step", 1),
                     layers = config.integer("num_hidden_layers");
  const std::int64_t chunk = config.count("attention_chunk_size", 8192);
  const bool chunked = chunk > 0 && chunk < model.max_position;
  if (chunked)
    config.diagnostics().warning(config.node().where,
                                 fmt::format("attention in chunks is not modelled: read as a window of {} tokens, of "
                                             "which a token sees half in the mean",
                                             chunk));
  std::vector<std::int64_t> windows;
  for (std::int64_t i = 0; i < layers; ++i) windows.push_back(chunked && (i + 1) % 4 != 0 ? chunk : 0);
  model.groups = groups_of(layer, windows, [&](std::int64_t i) { return i % step == step - 1 ? routed : unrouted; });
  return model;
}

ModelSpec read_minimax_m2(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = heads_of(config, model.hidden);
  layer.softmax().qk_norm_full = config.flag("use_qk_norm", false);
  layer.feed_forward = experts_of(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  layer.feed_forward.router_bias = config.flag("use_routing_bias", false);
  const auto windows = windows_of(config, config.integer("num_hidden_layers"), 0, model.max_position, every_layer);
  model.groups = groups_of(layer, windows, [&](std::int64_t) { return layer.feed_forward; });
  return model;
}

// The layer of multi-token prediction that the files have too belongs to no step.
ModelSpec read_glm4_moe(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = heads_of(config, model.hidden);
  layer.softmax().qkv_bias = config.flag("attention_bias", false);  // of the output there is none
  layer.softmax().qk_norm = config.flag("use_qk_norm", false);
  FeedForward routed = experts_of(config, "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size");
  routed.shared_width = config.count("n_shared_experts", 0) * routed.expert_width;
  routed.router_bias = true;  // e_score_correction_bias
  const std::int64_t first_routed = config.count("first_k_dense_replace", 1);
  const auto windows = windows_of(config, config.integer("num_hidden_layers"), 0, model.max_position, every_layer);
  const FeedForward unrouted = dense_of(config);
  model.groups = groups_of(layer, windows, [&](std::int64_t i) { return i >= first_routed ? routed : unrouted; });
  return model;
}

// Full layers and sliding ones differ in KV heads; values are narrower than keys. Which layer slides, and which has
// experts, stands in lists of 0 and 1. The layers of multi-token prediction belong to no step.
ModelSpec read_mimo_v2(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  const auto heads = [&](const std::string& before) {
    SoftmaxAttention attention;
    attention.heads = static_cast<int>(config.integer(before + "num_attention_heads"));
    attention.kv_heads = static_cast<int>(config.integer(before + "num_key_value_heads"));
    attention.head_dim = static_cast<int>(config.integer(before + "head_dim"));
    attention.value_dim = static_cast<int>(config.integer(before + "v_head_dim"));
    attention.sinks =
        config.flag(before.empty() ? "add_full_attention_sink_bias" : "add_swa_attention_sink_bias", false);
    attention.qkv_bias = config.flag("attention_bias", false);
    return attention;
  };
  const SoftmaxAttention full = heads("");
  SoftmaxAttention sliding = heads("swa_");
  sliding.window = config.integer("sliding_window");
  FeedForward routed = experts_of(config, "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size");
  routed.shared_width = config.count("n_shared_experts", 0) * routed.expert_width;
  routed.router_bias = config.text("topk_method") == "noaux_tc";
  const FeedForward unrouted = dense_of(config);
  const std::int64_t layers = config.integer("num_hidden_layers");
  const auto listed = [&](std::string_view key) {
    std::vector<bool> ones;
    if (const YamlNode* list = config.find(key))
      for (const YamlNode& item : list->items) ones.push_back(item.text == "1");
    if (static_cast<std::int64_t>(ones.size()) != layers)
      config.error(key, fmt::format("'{}' must name each of the {} layers by 0 or 1", key, layers));
    ones.resize(static_cast<std::size_t>(layers));
    return ones;
  };
  const std::vector<bool> slides = listed("hybrid_layer_pattern"), has_experts = listed("moe_layer_freq");
  std::vector<LayerGroup> all;
  for (std::size_t i = 0; i < slides.size(); ++i) {
    LayerGroup layer;
    layer.mixer = slides[i] ? sliding : full;
    layer.feed_forward = has_experts[i] ? routed : unrouted;
    all.push_back(layer);
  }
  model.groups = alike(all);
  return model;
}

// Norms of queries and keys and a gate for each head are those of Step-3.5 (vLLM, step3p5.py): the file names neither.
ModelSpec read_step3p7(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = heads_of(config, model.hidden);
  layer.softmax().qk_norm = true;
  layer.softmax().head_gate = true;
  FeedForward routed = experts_of(config, "num_experts", "num_experts_per_tok", "moe_intermediate_size");
  routed.shared_width = config.count("share_expert_dim", 0);
  routed.router_bias = config.flag("use_moe_router_bias", false);
  const std::int64_t first_routed = config.count("first_k_dense_replace", 0);
  const FeedForward unrouted = dense_of(config);
  const auto windows = windows_of(config, config.integer("num_hidden_layers"), config.count("sliding_window", 0),
                                  model.max_position, [](std::int64_t i) { return i % 4 != 0; });
  model.groups = groups_of(layer, windows, [&](std::int64_t i) { return i >= first_routed ? routed : unrouted; });
  return model;
}

ModelSpec read_phimoe(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.norm_bias = true;
  layer.mixer = heads_of(config, model.hidden);
  layer.softmax().qkv_bias = layer.softmax().output_bias = config.flag("attention_bias", false);
  layer.feed_forward = experts_of(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  const auto windows = windows_of(config, config.integer("num_hidden_layers"), config.count("sliding_window", 0),
                                  model.max_position, every_layer);
  model.groups = groups_of(layer, windows, [&](std::int64_t) { return layer.feed_forward; });
  return model;
}

ModelSpec read_gpt_oss(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LayerGroup layer;
  layer.mixer = heads_of(config, model.hidden, {.head_dim = 64});
  layer.softmax().qkv_bias = layer.softmax().output_bias = config.flag("attention_bias", true);
  layer.softmax().sinks = true;
  layer.feed_forward = experts_of(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  layer.feed_forward.bias = true;
  layer.feed_forward.router_bias = true;
  const auto windows = windows_of(config, config.integer("num_hidden_layers"), config.count("sliding_window", 128),
                                  model.max_position, [](std::int64_t i) { return i % 2 == 0; });
  model.groups = groups_of(layer, windows, [&](std::int64_t) { return layer.feed_forward; });
  return model;
}

}  // namespace llmscape::models::hf
