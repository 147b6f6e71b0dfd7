// SPDX-License-Identifier: Apache-2.0
#include "models/hf/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <string_view>

namespace llmscape::models::hf {
namespace {

constexpr std::string_view kRegular = "re:";
constexpr std::string_view kAll = "Linear";

// Modules that a list names, by their names or by regular expressions; "Linear" is none of them.
class NamedModules {
 public:
  NamedModules(const std::vector<std::string>& list, const SourceRange& where, Diagnostics& diagnostics) {
    for (const std::string& text : list) {
      if (!text.starts_with(kRegular)) {
        names_.push_back(text);
        continue;
      }
      try {
        expressions_.emplace_back(text.substr(kRegular.size()));
      } catch (const std::regex_error&) {
        diagnostics.error(where, fmt::format("'{}' is no regular expression", text));
      }
    }
  }
  [[nodiscard]] bool has(const std::string& module) const {
    return std::ranges::find(names_, module) != names_.end() ||
           std::ranges::any_of(expressions_, [&](const std::regex& expression) {
             return std::regex_search(module, expression, std::regex_constants::match_continuous);
           });
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::regex> expressions_;
};

// The matrices of a part of a layer, each in the spellings of the families.
struct LayerPart {
  std::string_view name;
  std::array<std::array<std::string_view, 4>, 3> matrices;
};
constexpr LayerPart kAttention{
    "attention",
    {{{"self_attn.q_proj", "self_attn.qkv_proj", "self_attn.q_b_proj", "linear_attn.in_proj_qkv"},
      {"self_attn.k_proj", "self_attn.qkv_proj", "self_attn.kv_b_proj", "linear_attn.in_proj_qkv"},
      {"self_attn.v_proj", "self_attn.qkv_proj", "self_attn.kv_b_proj", "linear_attn.in_proj_z"}}}};
constexpr LayerPart kOutput{"the attention's output", {{{"self_attn.o_proj", "linear_attn.out_proj"}}}};
constexpr LayerPart kFeedForward{
    "feed-forward",
    {{{"mlp.gate_proj", "mlp.gate_up_proj", "mlp.shared_experts.gate_proj", "mlp.shared_expert.gate_proj"},
      {"mlp.up_proj", "mlp.gate_up_proj", "mlp.shared_experts.up_proj", "mlp.shared_expert.up_proj"},
      {"mlp.down_proj", "mlp.shared_experts.down_proj", "mlp.shared_expert.down_proj"}}}};
constexpr LayerPart kExperts{"experts",
                             {{{"mlp.experts.0.gate_proj", "block_sparse_moe.experts.0.w1", "mlp.experts"},
                               {"mlp.experts.0.up_proj", "block_sparse_moe.experts.0.w3", "mlp.experts"},
                               {"mlp.experts.0.down_proj", "block_sparse_moe.experts.0.w2", "mlp.experts"}}}};
constexpr std::array<std::string_view, 3> kPrefixes = {"model.layers.", "model.language_model.layers.",
                                                       "language_model.model.layers."};

class Assignment {
 public:
  Assignment(const std::vector<Scheme>& schemes, const std::vector<std::string>& ignored, const SourceRange& where,
             Diagnostics& diagnostics)
      : schemes_(schemes), ignored_(ignored, where, diagnostics), where_(where), diagnostics_(diagnostics) {
    for (const Scheme& scheme : schemes) {
      targets_.emplace_back(scheme.targets, where, diagnostics);
      if (scheme.of_all() && !of_rest_) of_rest_ = &scheme;
    }
  }

  // That of most of the part's matrices; nullptr: they stay as they were.
  [[nodiscard]] const Scheme* of(const LayerPart& part, int layers) const {
    std::map<const Scheme*, int> votes;
    for (int layer = 0; layer < layers; ++layer)
      for (const auto& matrix : part.matrices) {
        std::vector<std::string> names;
        for (const std::string_view spelling : matrix)
          for (const std::string_view prefix : kPrefixes)
            if (!spelling.empty()) names.push_back(fmt::format("{}{}.{}", prefix, layer, spelling));
        if (!names.empty()) ++votes[of(names)];
      }
    if (votes.size() > 1)
      diagnostics_.warning(where_, fmt::format("formats of {} differ from layer to layer, or within one: that of most "
                                               "matrices is taken for all",
                                               part.name));
    return std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; })->first;
  }
  // Of one matrix in its spellings: a family has one, and what a list says of it by name comes before what is said of
  // all.
  [[nodiscard]] const Scheme* of(const std::vector<std::string>& names) const {
    if (std::ranges::any_of(names, [&](const std::string& name) { return ignored_.has(name); })) return nullptr;
    for (std::size_t i = 0; i < schemes_.size(); ++i)
      if (std::ranges::any_of(names, [&](const std::string& name) { return targets_[i].has(name); }))
        return &schemes_[i];
    return of_rest_;
  }

 private:
  const std::vector<Scheme>& schemes_;
  NamedModules ignored_;
  std::vector<NamedModules> targets_;
  const Scheme* of_rest_ = nullptr;
  const SourceRange& where_;
  Diagnostics& diagnostics_;
};

bool has_routed_experts(const LayerGroup& group) { return group.feed_forward.routed(); }
bool has_feed_forward(const LayerGroup& group) {
  return group.feed_forward.width > 0 || group.feed_forward.shared_width > 0;
}

}  // namespace

bool Scheme::of_all() const { return targets.empty() || std::ranges::find(targets, kAll) != targets.end(); }

void settle_inputs(const std::vector<const Scheme*>& used, ModelSpec& model, const SourceRange& where,
                   Diagnostics& diagnostics) {
  Precision& precision = model.precision;
  const Format wide = precision.activations;
  const auto inputs = [&](const Scheme& scheme) { return scheme.inputs.value_or(wide); };
  const Scheme* narrow = nullptr;
  for (const Scheme* scheme : used)
    if (scheme && scheme->inputs && !narrow) narrow = scheme;
  if (!narrow) return;
  precision.activations = *narrow->inputs;
  for (const Scheme* scheme : used) {
    if (!scheme || inputs(*scheme) == precision.activations) continue;
    if (scheme->weights == narrow->weights ||
        (precision.own_inputs && precision.own_inputs->weights != scheme->weights)) {
      diagnostics.warning(where,
                          fmt::format("inputs of {} weights are taken in {}, not in {}: schemes of this file differ "
                                      "in more than is told apart",
                                      scheme->weights.name, precision.activations.name, inputs(*scheme).name));
      continue;
    }
    precision.own_inputs = OwnInputs{scheme->weights, inputs(*scheme)};
  }
}

void store(const std::vector<Scheme>& schemes, const std::vector<std::string>& ignored, ModelSpec& model,
           const SourceRange& where, Diagnostics& diagnostics) {
  const Assignment assignment(schemes, ignored, where, diagnostics);
  const bool has_dense = std::ranges::any_of(model.groups, has_feed_forward),
             has_routed = std::ranges::any_of(model.groups, has_routed_experts);
  const int layers = model.layers();
  const Scheme* attention = assignment.of(kAttention, layers);
  const Scheme* output = assignment.of(kOutput, layers);
  const Scheme* feed_forward = has_dense ? assignment.of(kFeedForward, layers) : attention;
  const Scheme* experts = has_routed ? assignment.of(kExperts, layers) : feed_forward;
  const Scheme* head = assignment.of({"lm_head"});

  Precision& precision = model.precision;
  const Format wide = precision.weights;
  const auto format = [&](const Scheme* scheme) { return scheme ? scheme->weights : wide; };
  precision.weights = format(feed_forward);
  if (format(attention) != format(feed_forward)) precision.attention = format(attention);
  if (format(output) != format(attention)) precision.attention_output = format(output);
  if (format(experts) != format(feed_forward)) precision.experts = format(experts);
  if (head && !model.tied_embeddings) precision.head = head->weights;
  settle_inputs({attention, output, feed_forward, experts}, model, where, diagnostics);
}

}  // namespace llmscape::models::hf
