// SPDX-License-Identifier: Apache-2.0
#include "models/hf/left_out.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace llmscape::models::hf {
namespace {

using Names = std::initializer_list<std::string_view>;

bool has_any(std::string_view text, Names names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return text.find(name) != std::string_view::npos; });
}

// What follows the first of these names in the text, if there is one.
std::optional<std::string_view> after_any(std::string_view text, Names names) {
  for (const std::string_view name : names)
    if (const auto at = text.find(name); at != std::string_view::npos) return text.substr(at + name.size());
  return std::nullopt;
}

bool whole(std::string_view rest) { return rest.empty() || rest == "*" || rest == ".*"; }

// The matrices of a part, a bit each.
constexpr unsigned kGate = 1, kUp = 2, kDown = 4, kWhole = kGate | kUp | kDown;

struct Parts {
  bool attention = false, state = false;  // into one of these
  bool output = false;                    // out of either
  unsigned dense = 0;                     // of its matrices, those that are named
};

unsigned dense_matrices(std::string_view rest) {
  if (whole(rest)) return kWhole;
  if (rest == ".gate") return 0;  // a mixture's router
  unsigned named = 0;
  if (has_any(rest, {"gate"})) named |= kGate;
  if (has_any(rest, {"up", "fc1"})) named |= kUp;
  if (has_any(rest, {"down", "fc2"})) named |= kDown;
  return named == 0 && has_any(rest, {"_proj", "fc"}) ? kWhole : named;
}

Parts mixer_parts(std::string_view module) {
  if (const auto rest = after_any(module, {"linear_attn"}))
    return {.state = whole(*rest) || has_any(*rest, {"in_proj"}),
            .output = whole(*rest) || has_any(*rest, {"out_proj"})};
  if (const auto rest = after_any(module, {"mixer"}); rest && (whole(*rest) || has_any(*rest, {"in_proj", "out_proj"})))
    return {.attention = whole(*rest), .state = !has_any(*rest, {"out_proj"}), .output = !has_any(*rest, {"in_proj"})};
  const auto rest = after_any(module, {"self_attn", ".attn", "mixer"});
  if (!rest) return {};
  const bool output = has_any(*rest, {"o_proj", "out_proj"});
  return {.attention = whole(*rest) || (!output && has_any(*rest, {"proj"})), .output = whole(*rest) || output};
}

// Of the module behind its layer's number. All of it where the whole layer is named.
Parts parts_of(std::string_view module) {
  if (whole(module)) return {true, true, true, kWhole};
  if (has_any(module, {"shared_expert_gate", "norm", "indexer", "conv", "bias"})) return {};
  if (const auto rest = after_any(module, {"shared_experts", "shared_expert"})) return {.dense = dense_matrices(*rest)};
  if (has_any(module, {"expert"})) return {};
  if (const auto rest = after_any(module, {"mlp", "feed_forward", "ffn"})) return {.dense = dense_matrices(*rest)};
  if (has_any(module, {"up_proj", "down_proj", "gate_proj"}))  // "mixer.up_proj" (Nemotron)
    return {.dense = dense_matrices(module)};
  return mixer_parts(module);
}

// A layer's number where there is one, and the module behind it.
struct Module {
  std::optional<int> layer;
  std::string_view name;
};
Module module_of(std::string_view text) {
  constexpr std::string_view kLayers = "layers.";
  const auto at = text.find(kLayers);
  if (at == std::string_view::npos) return {{}, text};
  text.remove_prefix(at + kLayers.size());
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc()) return {number, text.substr(static_cast<std::size_t>(end - text.data()))};
  return {{}, text.starts_with("*.") ? text.substr(2) : text};
}

// How many layers leave one part out: all of it, or most of its matrices.
class Count {
 public:
  void add(const std::optional<int>& layer, int layers, unsigned matrices = kWhole) {
    if (!layer) all_ |= matrices;
    else if (*layer < layers) some_[*layer] |= matrices;
  }
  // `having`: layers that have it.
  [[nodiscard]] int of(int having) const {
    if (most_of(all_)) return having;
    const auto left = std::ranges::count_if(some_, [this](const auto& layer) { return most_of(layer.second | all_); });
    return std::min(having, static_cast<int>(left));
  }
  // Of some layers one matrix, and not the others.
  [[nodiscard]] bool partly() const {
    const auto part = [](unsigned matrices) { return matrices != 0 && !most_of(matrices); };
    return part(all_) ? some_.empty()
                      : std::ranges::any_of(some_, [&](const auto& layer) { return part(layer.second); });
  }

 private:
  static bool most_of(unsigned matrices) { return std::popcount(matrices) >= 2; }

  unsigned all_ = 0;
  std::map<int, unsigned> some_;
};

struct Counts {
  Count attention, state, output, dense;
};

Counts count(const YamlNode* left_out, int layers) {
  Counts counts;
  if (!left_out) return counts;
  for (const YamlNode& item : left_out->items) {
    const std::string_view text = item.text;
    if (has_any(text, {"vision", "visual"}) || text.starts_with("mtp")) continue;
    const Module module = module_of(text);
    if (!module.layer && whole(module.name)) continue;
    const Parts parts = parts_of(module.name);
    if (parts.attention) counts.attention.add(module.layer, layers);
    if (parts.state) counts.state.add(module.layer, layers);
    if (parts.output) counts.output.add(module.layer, layers);
    if (parts.dense != 0) counts.dense.add(module.layer, layers, parts.dense);
  }
  return counts;
}

bool has_state(const LayerGroup& group) { return std::holds_alternative<StateLayer>(group.mixer); }
bool is_kimi_delta(const LayerGroup& group) {
  const auto* state = std::get_if<StateLayer>(&group.mixer);
  return state && state->form == StateForm::kimi_delta;
}
bool has_attention(const LayerGroup& group) { return has_mixer(group.mixer) && !has_state(group); }
bool has_dense(const LayerGroup& group) { return group.feed_forward.width > 0 || group.feed_forward.shared_width > 0; }

int layers_having(const ModelSpec& model, bool (*part)(const LayerGroup&)) {
  int sum = 0;
  for (const LayerGroup& group : model.groups) sum += part(group) ? group.count : 0;
  return sum;
}

bool most(int count, int having) { return count > 0 && 2 * count >= having; }

// The first `count` layers that have the part store it in a format of their own.
void set_apart(ModelSpec& model, bool (*part)(const LayerGroup&), int count, std::optional<Format> LayerGroup::* own,
               const Format& format) {
  std::vector<LayerGroup> groups;
  for (LayerGroup& group : model.groups) {
    const int apart = part(group) ? std::min(count, group.count) : 0;
    count -= apart;
    if (apart > 0) {
      LayerGroup& first = groups.emplace_back(group);
      first.count = apart;
      first.*own = format;
    }
    group.count -= apart;
    if (group.count > 0) groups.push_back(std::move(group));
  }
  model.groups = std::move(groups);
}

}  // namespace

void store(const YamlNode* left_out, const Format& narrow, ModelSpec& model, Diagnostics& diagnostics) {
  const Counts counts = count(left_out, model.layers());
  if (counts.dense.partly())
    diagnostics.warning(left_out->where,
                        "one matrix of a feed-forward is left as it was, and the others are not: all are "
                        "taken as the others");
  const int attentions = layers_having(model, has_attention), states = layers_having(model, has_state);
  const int dense_layers = layers_having(model, has_dense);
  const int of_attention = counts.attention.of(attentions);
  // Kimi's files call both kinds of layer "self_attn".
  const bool one_name = std::ranges::any_of(model.groups, is_kimi_delta);
  const int of_states = one_name ? counts.attention.of(attentions + states) - of_attention : counts.state.of(states);
  const int of_dense = counts.dense.of(dense_layers);
  const bool attention = most(of_attention + of_states, attentions + states);
  const bool output = most(counts.output.of(attentions + states), attentions + states);
  const bool dense = dense_layers > 0 ? most(of_dense, dense_layers) : attention;  // nothing else is there

  Precision& precision = model.precision;
  const Format wide = precision.weights;
  const auto format = [&](bool is_left) { return is_left ? wide : narrow; };
  precision.weights = format(dense);
  if (attention != dense) precision.attention = format(attention);
  if (output != attention) precision.attention_output = format(output);
  if (dense && std::ranges::any_of(model.groups, [](const LayerGroup& g) { return g.feed_forward.routed(); }))
    precision.experts = narrow;

  const auto others = [](bool is_left, int count, int having) { return is_left ? having - count : count; };
  set_apart(model, has_attention, others(attention, of_attention, attentions), &LayerGroup::own_attention,
            format(!attention));
  set_apart(model, has_state, others(attention, of_states, states), &LayerGroup::own_attention, format(!attention));
  set_apart(model, has_dense, dense_layers > 0 ? others(dense, of_dense, dense_layers) : 0, &LayerGroup::own_dense,
            format(!dense));
}

}  // namespace llmscape::models::hf
