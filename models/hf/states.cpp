// SPDX-License-Identifier: Apache-2.0
// Families with layers that keep a recurrent state. Which layer has what is written layer by layer in their files;
// biases and norms that config.json does not spell out are those of the family's modelling file in
// huggingface/transformers.
#include "models/hf/families.hpp"
#include "models/hf/layers.hpp"

#include <fmt/format.h>

namespace llmscape::models::hf {
namespace {

// 4 unless the key says float16 or bfloat16.
double state_bytes_of(ConfigReader& config, std::string_view key, std::string_view unnamed) {
  const std::string name = config.text(key).value_or(std::string(unnamed));
  if (name == "float32") return 4;
  if (name == "float16" || name == "bfloat16") return 2;
  config.error(key, fmt::format("'{}' must be float32, float16 or bfloat16, not '{}'", key, name));
  return 4;
}

StateLayer gated_delta_of(ConfigReader& config) {
  StateLayer state;
  state.form = StateForm::gated_delta;
  state.heads = static_cast<int>(config.integer("linear_num_value_heads"));
  state.key_heads = static_cast<int>(config.integer("linear_num_key_heads"));
  state.key_dim = static_cast<int>(config.integer("linear_key_head_dim"));
  state.value_dim = static_cast<int>(config.integer("linear_value_head_dim"));
  state.convolution = static_cast<int>(config.integer("linear_conv_kernel_dim", 4));
  state.state_bytes = state_bytes_of(config, "mamba_ssm_dtype", "bfloat16");
  return state;
}

StateLayer mamba2_of(ConfigReader& config) {
  StateLayer state;
  state.form = StateForm::mamba2;
  state.heads = static_cast<int>(config.integer("mamba_num_heads"));
  state.key_heads = static_cast<int>(config.integer("n_groups"));
  state.key_dim = static_cast<int>(config.integer("ssm_state_size"));
  state.value_dim = static_cast<int>(config.integer("mamba_head_dim"));
  state.convolution = static_cast<int>(config.integer("conv_kernel", 4));
  state.state_bytes = state_bytes_of(config, "mamba_ssm_cache_dtype", "float16");
  if (state.heads % state.key_heads != 0)
    config.error("n_groups", fmt::format("{} groups do not divide {} heads", state.key_heads, state.heads));
  return state;
}

// Without a gate; experts of Super and Ultra work in a narrower space.
FeedForward nemotron_experts_of(ConfigReader& config) {
  FeedForward kind;
  kind.gated = false;
  kind.experts = static_cast<int>(config.integer("n_routed_experts"));
  kind.experts_per_token = static_cast<int>(config.integer("num_experts_per_tok"));
  kind.expert_width = config.integer("moe_intermediate_size");
  kind.shared_width = config.count("n_shared_experts", 0) * config.count("moe_shared_expert_intermediate_size", 0);
  kind.latent = config.count("moe_latent_size", 0);
  kind.router_bias = true;  // e_score_correction_bias
  check_experts(config, kind, "num_experts_per_tok");
  return kind;
}

// A letter for each layer: M, *, - or E, from the pattern or from names.
std::string nemotron_layers(ConfigReader& config) {
  if (const auto pattern = config.text("hybrid_override_pattern")) return *pattern;
  std::string letters;
  const YamlNode* names = config.find("layers_block_type");
  if (!names || !names->is_sequence()) {
    config.error("hybrid_override_pattern", "'hybrid_override_pattern' or 'layers_block_type' must name the layers");
    return letters;
  }
  for (const YamlNode& name : names->items)
    letters += name.text == "mamba" ? 'M' : name.text == "attention" ? '*' : name.text == "mlp" ? '-' : 'E';
  return letters;
}

}  // namespace

// Every fourth layer has attention, with a gate beside each query; the others the gated delta rule. Dense or routed.
ModelSpec read_qwen3_5(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  SoftmaxAttention attention = heads_of(config, model.hidden, {.head_dim = 256});
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  attention.qk_norm = true;
  attention.output_gate = config.flag("attn_output_gate", true);
  const StateLayer state = gated_delta_of(config);
  FeedForward kind;
  if (config.has("num_experts")) {
    kind.experts = static_cast<int>(config.integer("num_experts"));
    kind.experts_per_token = static_cast<int>(config.integer("num_experts_per_tok"));
    kind.expert_width = config.integer("moe_intermediate_size");
    kind.shared_width = config.count("shared_expert_intermediate_size", 0);
    kind.shared_gate = kind.shared_width > 0;
    check_experts(config, kind, "num_experts_per_tok");
  } else {
    kind.width = config.integer("intermediate_size");
  }
  const std::int64_t layers = config.integer("num_hidden_layers"), every = config.integer("full_attention_interval", 4);
  const YamlNode* types = config.find("layer_types");
  if (types && static_cast<std::int64_t>(types->items.size()) != layers)
    config.error("layer_types",
                 fmt::format("'layer_types' names {} layers, 'num_hidden_layers' is {}", types->items.size(), layers));
  std::vector<LayerGroup> all;
  for (std::int64_t i = 0; i < layers; ++i) {
    const auto place = static_cast<std::size_t>(i);
    const bool named = types && place < types->items.size();
    const bool full = named ? types->items[place].text == "full_attention" : (i + 1) % every == 0;
    if (named && !full && types->items[place].text != "linear_attention")
      config.diagnostics().error(types->items[place].where,
                                 fmt::format("layer type '{}' is not modelled", types->items[place].text),
                                 "known: full_attention, linear_attention");
    LayerGroup layer;
    layer.mixer = full ? Mixer(attention) : Mixer(state);
    layer.feed_forward = kind;
    all.push_back(layer);
  }
  model.groups = alike(all);
  return model;
}

// Kimi's delta attention in three layers of four, latent attention without positions in the others. Experts work in a
// narrower space. The gate of latent attention is taken as wide as its values, shared experts as wide as in Kimi-K2:
// the file says neither.
ModelSpec read_kimi_k3(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  LatentAttention latent;
  latent.heads = static_cast<int>(config.integer("num_attention_heads"));
  latent.q_rank = static_cast<int>(config.integer("q_lora_rank", 0));
  latent.kv_rank = static_cast<int>(config.integer("kv_lora_rank"));
  latent.rope_dim = static_cast<int>(config.integer("qk_rope_head_dim"));
  latent.nope_dim = static_cast<int>(config.integer("qk_nope_head_dim"));
  latent.v_dim = static_cast<int>(config.integer("v_head_dim"));
  latent.output_gate = config.flag("mla_use_output_gate", false);
  const YamlNode none;
  const YamlNode* linear = config.find("linear_attn_config");
  if (!linear || !linear->is_mapping())
    config.error("linear_attn_config", "'linear_attn_config' must describe the layers with a state");
  ConfigReader states(linear ? *linear : none, config.diagnostics());
  StateLayer state;
  state.form = StateForm::kimi_delta;
  state.heads = state.key_heads = static_cast<int>(states.integer("num_heads"));
  state.key_dim = state.value_dim = static_cast<int>(states.integer("head_dim"));
  state.convolution = static_cast<int>(states.integer("short_conv_kernel_size", 4));
  state.full_gate = states.flag("use_full_rank_gate", false);
  FeedForward routed;
  routed.experts = static_cast<int>(config.integer("num_experts"));
  routed.experts_per_token = static_cast<int>(config.integer("num_experts_per_token"));
  routed.expert_width = config.integer("moe_intermediate_size");
  routed.shared_width = config.count("num_shared_experts", 0) * routed.expert_width;
  routed.latent = config.count("routed_expert_hidden_size", 0);
  routed.latent_norm = routed.latent > 0 && config.flag("latent_moe_use_norm", false);
  routed.router_bias = config.text("topk_method") == "noaux_tc";
  check_experts(config, routed, "num_experts_per_token");
  FeedForward unrouted;
  unrouted.width = config.integer("intermediate_size");
  if (const std::int64_t block = config.count("attn_res_block_size", 0); block > 0)
    config.diagnostics().warning(
        config.node().where,
        fmt::format("attention over the outputs of earlier blocks of {} layers is not modelled: it costs nothing",
                    block));
  const std::int64_t layers = config.integer("num_hidden_layers"), first = config.count("first_k_dense_replace", 0);
  std::vector<bool> full(static_cast<std::size_t>(layers));
  for (const std::int64_t number : states.integers("full_attn_layers"))  // counted from 1
    if (number <= layers) full[static_cast<std::size_t>(number - 1)] = true;
  std::vector<LayerGroup> all;
  for (std::int64_t i = 0; i < layers; ++i) {
    LayerGroup layer;
    layer.mixer = full[static_cast<std::size_t>(i)] ? Mixer(latent) : Mixer(state);
    layer.feed_forward = i >= first ? routed : unrouted;
    all.push_back(layer);
  }
  model.groups = alike(all);
  return model;
}

// Each layer is one part: Mamba 2, attention without positions, a plain feed-forward or experts, behind one norm.
ModelSpec read_nemotron_h(ConfigReader& config) {
  ModelSpec model = frame_of(config, false);
  std::vector<LayerGroup> all;
  const std::string letters = nemotron_layers(config);
  for (const char letter : letters) {
    LayerGroup layer;
    layer.norms = 1;
    layer.mixer = NoMixer();
    switch (letter) {
      case 'M': layer.mixer = mamba2_of(config); break;
      case '*': {
        SoftmaxAttention attention =
            heads_of(config, model.hidden, {.head_dim = config.count("attention_head_dim", 128)});
        attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
        layer.mixer = attention;
        break;
      }
      case '-':
        layer.feed_forward.width = config.integer("intermediate_size");
        layer.feed_forward.gated = false;
        break;
      case 'E': layer.feed_forward = nemotron_experts_of(config); break;
      default:
        config.error("hybrid_override_pattern", fmt::format("layer '{}' of the pattern is not modelled", letter),
                     "known: M, *, - and E");
        return model;
    }
    all.push_back(layer);
  }
  if (const auto layers = config.count("num_hidden_layers", static_cast<std::int64_t>(letters.size()));
      layers != static_cast<std::int64_t>(letters.size()))
    config.error("num_hidden_layers",
                 fmt::format("the pattern names {} layers, 'num_hidden_layers' is {}", letters.size(), layers));
  model.groups = alike(all);
  return model;
}

}  // namespace llmscape::models::hf
