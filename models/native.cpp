// SPDX-License-Identifier: Apache-2.0
#include "models/native.hpp"

#include "models/format.hpp"
#include "models/model_check.hpp"

#include <fmt/format.h>

namespace llmscape::models {
namespace {

constexpr double kWidest = 1e7;  // no width, count or length of a model comes near it

void check_attention(const NativeAttention& attention, const YamlNode& node, Diagnostics& diagnostics) {
  const auto need = [&](bool present, std::string_view key) {
    if (!present) diagnostics.error(node.where, fmt::format("'{}' is required for this kind of attention", key));
  };
  if (attention.kind == NativeAttention::Kind::latent) {
    need(attention.kv_rank > 0, "kv_rank");
    need(attention.rope_dim > 0, "rope_dim");
    need(attention.nope_dim > 0, "nope_dim");
    need(attention.v_dim > 0, "v_dim");
    if (attention.index_heads > 0) {
      need(attention.index_dim > 0, "index_dim");
      need(attention.index_entries > 0, "index_entries");
    }
    return;
  }
  need(attention.kv_heads > 0, "kv_heads");
  need(attention.head_dim > 0, "head_dim");
  if (attention.kv_heads > 0 && attention.heads % attention.kv_heads != 0)
    diagnostics.error(node.where,
                      fmt::format("{} KV heads do not divide {} heads", attention.kv_heads, attention.heads));
}

void check_state(const StateLayer& state, const YamlNode& node, Diagnostics& diagnostics) {
  if (state.heads % state.key_heads != 0)
    diagnostics.error(node.where, fmt::format("{} key heads do not divide {} heads", state.key_heads, state.heads));
}

void check_feed_forward(const FeedForward& kind, const YamlNode& node, Diagnostics& diagnostics) {
  if (!kind.routed()) {
    if (kind.width == 0)
      diagnostics.error(node.where, "'width' is required in a dense layer, 'experts' in a routed one");
    return;
  }
  if (kind.width > 0) diagnostics.error(node.where, "a routed layer has no 'width'; shared experts are 'shared_width'");
  if (kind.expert_width == 0) diagnostics.error(node.where, "'expert_width' is required in a routed layer");
  if (kind.experts_per_token < 1 || kind.experts_per_token > kind.experts)
    diagnostics.error(node.where, fmt::format("'experts_per_token' must be from 1 to the {} experts", kind.experts));
  if (kind.experts % kind.expert_groups != 0)
    diagnostics.error(node.where, fmt::format("{} groups do not divide {} experts", kind.expert_groups, kind.experts));
  if (kind.groups_per_token > kind.expert_groups)
    diagnostics.error(node.where,
                      fmt::format("'groups_per_token' must be from 1 to the {} groups", kind.expert_groups));
}

const Fields<NativeAttention>& attention_fields() {
  static const Fields<NativeAttention> fields = [] {
    using Native = NativeAttention;
    Fields<Native> f("attention", "Softmax attention of a layer; widths are those of the whole model.");
    f.add_enum("kind", &Native::kind, {{"gqa", Native::Kind::gqa}, {"mla", Native::Kind::latent}},
               "gqa (also multi-head and multi-query) or mla (latent attention)");
    f.add("heads", &Native::heads, "query heads").between(1, kWidest).required();
    f.add("kv_heads", &Native::kv_heads, "key-value heads; gqa needs them").between(0, kWidest);
    f.add("head_dim", &Native::head_dim, "width of a head; gqa needs it").between(0, kWidest);
    f.add("value_dim", &Native::value_dim, "width of a head's values; 0: head_dim").between(0, kWidest);
    f.add("window", &Native::window, "sliding window in tokens, the token itself included; 0: full")
        .between(0, kWidest);
    f.add("qkv_bias", &Native::qkv_bias, "the projections to queries, keys and values have biases");
    f.add("output_bias", &Native::output_bias, "the output projection has a bias");
    f.add("qk_norm", &Native::qk_norm, "a norm over each head of queries and keys");
    f.add("qk_norm_full", &Native::qk_norm_full, "a norm over all heads of queries and keys at once");
    f.add("sinks", &Native::sinks, "one learned sink per head");
    f.add("output_gate", &Native::output_gate, "a gate for each value scales the output (Qwen3.5)");
    f.add("head_gate", &Native::head_gate, "a gate for each head scales its output (Step-3.7)");
    f.add("keys_as_values", &Native::keys_as_values, "values are the projected keys; both are cached (Gemma-4)");
    f.add("q_rank", &Native::q_rank, "mla: rank of the queries; 0: projected directly").between(0, kWidest);
    f.add("kv_rank", &Native::kv_rank, "mla: rank of the latent that is cached").between(0, kWidest);
    f.add("rope_dim", &Native::rope_dim, "mla: width of the rotated part of keys and queries").between(0, kWidest);
    f.add("nope_dim", &Native::nope_dim, "mla: width of the other part, per head").between(0, kWidest);
    f.add("v_dim", &Native::v_dim, "mla: width of the values, per head").between(0, kWidest);
    f.add("index_heads", &Native::index_heads,
          "sparse mla: heads that score the context; 0: an earlier layer has chosen the entries")
        .between(0, kWidest);
    f.add("index_dim", &Native::index_dim, "sparse mla: width of those heads").between(0, kWidest);
    f.add("index_entries", &Native::index_entries, "sparse mla: entries that a token attends to; 0: all")
        .between(0, kWidest);
    f.check(check_attention);
    return f;
  }();
  return fields;
}

const Fields<StateLayer>& state_fields() {
  static const Fields<StateLayer> fields = [] {
    Fields<StateLayer> f("state", "A recurrent state in place of attention; widths are those of the whole model.");
    f.add_enum("form", &StateLayer::form,
               {{"mamba2", StateForm::mamba2},
                {"gated_delta", StateForm::gated_delta},
                {"kimi_delta", StateForm::kimi_delta}},
               "how a token changes the state: mamba2, gated_delta (Qwen3.5) or kimi_delta")
        .required();
    f.add("heads", &StateLayer::heads, "heads with a state each").between(1, kWidest).required();
    f.add("key_heads", &StateLayer::key_heads, "heads of queries and keys: Mamba 2's groups")
        .between(1, kWidest)
        .required();
    f.add("key_dim", &StateLayer::key_dim, "width of queries and keys: Mamba 2's state size")
        .between(1, kWidest)
        .required();
    f.add("value_dim", &StateLayer::value_dim, "width of the values of a head").between(1, kWidest).required();
    f.add("convolution", &StateLayer::convolution, "tokens that the causal convolution reads").between(1, 64);
    f.add("full_gate", &StateLayer::full_gate, "kimi_delta: the output gate is one whole matrix (Kimi-K3)");
    f.add("state_bytes", &StateLayer::state_bytes, "bytes of an element of the state: 4 or 2").between(1, 8);
    f.check(check_state);
    return f;
  }();
  return fields;
}

const Fields<FeedForward>& feed_forward_fields() {
  static const Fields<FeedForward> fields = [] {
    Fields<FeedForward> f("feed_forward", "Feed-forward of a layer, dense or routed to experts.");
    f.add("width", &FeedForward::width, "width of a dense layer").between(0, kWidest);
    f.add("gated", &FeedForward::gated, "gate and up projections, or up alone");
    f.add("bias", &FeedForward::bias, "the projections have biases");
    f.add("experts", &FeedForward::experts, "routed experts; 0: dense").between(0, kWidest);
    f.add("experts_per_token", &FeedForward::experts_per_token, "experts that each token takes").between(0, kWidest);
    f.add("expert_groups", &FeedForward::expert_groups, "groups of experts, of which a token takes the best")
        .between(1, kWidest);
    f.add("groups_per_token", &FeedForward::groups_per_token, "groups from which each token's experts are chosen")
        .between(1, kWidest);
    f.add("expert_width", &FeedForward::expert_width, "width of one expert").between(0, kWidest);
    f.add("shared_width", &FeedForward::shared_width, "width of all shared experts together").between(0, kWidest);
    f.add("latent", &FeedForward::latent, "width in which routed experts work, behind a projection; 0: hidden")
        .between(0, kWidest);
    f.add("latent_norm", &FeedForward::latent_norm, "a norm of that width (Kimi-K3)");
    f.add("router_bias", &FeedForward::router_bias, "the router has a bias per expert");
    f.add("shared_gate", &FeedForward::shared_gate, "a gate of `hidden` weights on the shared expert");
    f.check(check_feed_forward);
    return f;
  }();
  return fields;
}

const Fields<NativeGroup>& group_fields() {
  static const Fields<NativeGroup> fields = [] {
    Fields<NativeGroup> f("layer_group", "Layers that are alike; attention or state, feed-forward, or both.");
    f.add("count", &NativeGroup::count, "how many layers").between(1, 1e5).required();
    f.add_group("attention", &NativeGroup::attention, attention_fields(), "the layers' attention");
    f.add_group("state", &NativeGroup::state, state_fields(), "in place of attention: a state of fixed size");
    f.add_group("feed_forward", &NativeGroup::feed_forward, feed_forward_fields(), "the layers' feed-forward");
    f.add("norms", &NativeGroup::norms, "norms of `hidden` weights per layer").between(0, 16);
    f.add("norm_bias", &NativeGroup::norm_bias, "the norms have biases (LayerNorm)");
    f.check([](const NativeGroup& group, const YamlNode& node, Diagnostics& diagnostics) {
      if (group.attention && group.state)
        diagnostics.error(node.where, "a layer has 'attention' or 'state', not both: they are groups of their own");
      if (!group.attention && !group.state && !group.feed_forward)
        diagnostics.error(node.where, "a layer needs 'attention', 'state' or 'feed_forward'");
    });
    return f;
  }();
  return fields;
}

LayerGroup group_of(const NativeGroup& native) {
  LayerGroup group;
  group.count = native.count;
  group.mixer = native.attention ? native.attention->mixer() : native.state ? Mixer(*native.state) : Mixer(NoMixer());
  if (native.feed_forward) group.feed_forward = *native.feed_forward;
  group.norms = native.norms;
  group.norm_bias = native.norm_bias;
  return group;
}

}  // namespace

Mixer NativeAttention::mixer() const {
  if (kind == Kind::latent) {
    LatentAttention latent{heads, q_rank, kv_rank, rope_dim, nope_dim, v_dim, qkv_bias, output_bias, output_gate};
    if (index_entries > 0) latent.index = SparseIndex{index_heads, index_dim, index_entries};
    return latent;
  }
  SoftmaxAttention attention;
  attention.heads = heads;
  attention.kv_heads = kv_heads;
  attention.head_dim = head_dim;
  attention.window = window;
  attention.qkv_bias = qkv_bias;
  attention.output_bias = output_bias;
  attention.qk_norm = qk_norm;
  attention.qk_norm_full = qk_norm_full;
  attention.sinks = sinks;
  attention.output_gate = output_gate;
  attention.value_dim = value_dim;
  attention.head_gate = head_gate;
  attention.keys_as_values = keys_as_values;
  return attention;
}

const Fields<NativeModel>& native_model_fields() {
  static const Fields<NativeModel> fields = [] {
    Fields<NativeModel> f("model", "A transformer as groups of like layers.");
    f.add("schema", &NativeModel::schema, "always model/1").one_of({"model/1"}).required();
    f.add("source", &NativeModel::source, "where the figures come from");
    f.add("parameters", &NativeModel::parameters, "the published number of parameters").above(0);
    f.add("hidden", &NativeModel::hidden, "width of the residual stream").between(1, kWidest).required();
    f.add("vocabulary", &NativeModel::vocabulary, "tokens of the vocabulary").between(1, kWidest).required();
    f.add("max_position", &NativeModel::max_position, "longest context in tokens").between(1, 1e9).required();
    f.add("tied_embeddings", &NativeModel::tied_embeddings, "the head uses the embedding's table");
    f.add("position_table", &NativeModel::position_table, "rows of a learned position embedding; 0: rotary")
        .between(0, kWidest);
    f.add("embedding_width", &NativeModel::embedding_width, "narrower input embedding; 0: hidden").between(0, kWidest);
    f.add("final_norm", &NativeModel::final_norm, "a norm before the head");
    f.add("weights", &NativeModel::weights, "number format of the weights").one_of(format_names());
    f.add("activations", &NativeModel::activations, "number format of the inputs of GEMMs").one_of(format_names());
    f.add("kv", &NativeModel::kv, "number format of the KV cache").one_of(format_names());
    f.add_group("groups", &NativeModel::groups, group_fields(), "the layers; their order does not matter").required();
    f.check([](const NativeModel& model, const YamlNode& node, Diagnostics& diagnostics) {
      if (model.groups.empty()) diagnostics.error(node.find("groups")->where, "a model needs at least one layer group");
    });
    return f;
  }();
  return fields;
}

std::optional<ModelSpec> read_native_model(const YamlNode& root, std::string name, Diagnostics& diagnostics) {
  const int before = diagnostics.errors();
  NativeModel native;
  if (!native_model_fields().read(native, root, diagnostics)) return std::nullopt;
  ModelSpec model;
  model.name = std::move(name);
  model.family = "native";
  model.hidden = native.hidden;
  model.vocabulary = native.vocabulary;
  model.max_position = native.max_position;
  model.tied_embeddings = native.tied_embeddings;
  model.position_table = native.position_table;
  model.embedding_width = native.embedding_width;
  model.final_norm = native.final_norm;
  for (const NativeGroup& group : native.groups) model.groups.push_back(group_of(group));
  model.precision = {
      *format_named(native.weights), *format_named(native.activations), *format_named(native.kv), {}, {}};
  model.source = std::move(native.source);
  model.published_parameters = native.parameters;
  check_size(model, root.where, diagnostics);
  if (diagnostics.errors() != before) return std::nullopt;
  return model;
}

}  // namespace llmscape::models
