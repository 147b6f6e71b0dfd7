// SPDX-License-Identifier: Apache-2.0
#include "models/hf/left_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

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

// Of the module behind its layer's number. All of it where the whole layer is named.
LeftOut parts_of(std::string_view module) {
  if (whole(module)) return {true, true, true};
  if (has_any(module, {"shared_expert_gate", "norm", "indexer", "conv", "bias"})) return {};
  if (has_any(module, {"shared_expert"})) return {.dense = true};
  if (has_any(module, {"expert"})) return {};
  if (const auto rest = after_any(module, {"mlp", "feed_forward", "ffn"}))
    return {.dense = whole(*rest) || has_any(*rest, {"_proj", "fc"})};
  if (has_any(module, {"up_proj", "down_proj", "gate_proj"})) return {.dense = true};  // "mixer.up_proj" (Nemotron)
  const auto rest = after_any(module, {"self_attn", "linear_attn", ".attn", "mixer"});
  if (!rest) return {};
  if (whole(*rest)) return {true, true, false};
  const bool output = has_any(*rest, {"o_proj", "out_proj"});
  return {.attention = !output && has_any(*rest, {"proj"}), .output = output};
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
  Module module{{}, text};
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc()) module = {number, text.substr(static_cast<std::size_t>(end - text.data()))};
  else if (text.starts_with("*.")) module.name.remove_prefix(2);
  return module;
}

// The layers that leave one part out.
class Part {
 public:
  void add(const std::optional<int>& layer, int layers) {
    if (!layer) all_ = true;
    else if (*layer < layers) some_.insert(*layer);
  }
  // `having`: layers that have it.
  [[nodiscard]] bool left_by_most(int having) const { return all_ || (having > 0 && 2 * count() >= having); }
  [[nodiscard]] bool mixed(int having) const { return !all_ && count() > 0 && count() < having; }
  [[nodiscard]] int count() const { return static_cast<int>(some_.size()); }

 private:
  bool all_ = false;
  std::set<int> some_;
};

}  // namespace

LeftOut left_out(const YamlNode* modules, const ModelSpec& model, Diagnostics& diagnostics) {
  if (!modules) return {};
  int mixers = 0, dense_layers = 0;
  for (const LayerGroup& group : model.groups) {
    if (has_mixer(group.mixer)) mixers += group.count;
    if (group.feed_forward.width > 0 || group.feed_forward.shared_width > 0) dense_layers += group.count;
  }
  Part attention, output, dense;
  const int layers = model.layers();
  for (const YamlNode& item : modules->items) {
    const std::string_view text = item.text;
    if (has_any(text, {"vision", "visual"}) || text.starts_with("mtp")) continue;
    const Module module = module_of(text);
    if (!module.layer && whole(module.name)) continue;
    const LeftOut parts = parts_of(module.name);
    if (parts.attention) attention.add(module.layer, layers);
    if (parts.output) output.add(module.layer, layers);
    if (parts.dense) dense.add(module.layer, layers);
  }
  const auto say = [&](const Part& part, int having, std::string_view what) {
    if (part.mixed(having))
      diagnostics.warning(
          modules->where,
          fmt::format("{} of {} layers leave {} as it was: it is taken as in most layers in all of them", part.count(),
                      having, what));
  };
  say(attention, mixers, "attention");
  say(dense, dense_layers, "their feed-forward");
  return {attention.left_by_most(mixers), output.left_by_most(mixers), dense.left_by_most(dense_layers)};
}

}  // namespace llmscape::models::hf
