// SPDX-License-Identifier: Apache-2.0
#include "models/token_plans/thinning.hpp"

#include "models/token_plans/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmscape::models {
namespace {

const Fields<Thinning::Stage>& stage_fields() {
  static const Fields<Thinning::Stage> fields = [] {
    using Stage = Thinning::Stage;
    Fields<Stage> f("thinning_stage", "where a part of a prompt's tokens is left behind");
    f.add("after", &Stage::after, "layers that all tokens pass which the stage before let through")
        .required()
        .between(1, 10'000);
    f.add("share", &Stage::share, "of a prompt's tokens that goes on").above(0).at_most(1);
    f.add("most", &Stage::most, "in place of 'share': the most tokens of a prompt that go on").between(1, kMostTokens);
    f.check([](const Stage& stage, const YamlNode& node, Diagnostics& diagnostics) {
      if (stage.share.has_value() == stage.most.has_value())
        diagnostics.error(node.where, "a stage needs 'share' or 'most', one of them");
    });
    return f;
  }();
  return fields;
}

// Whether what the second lets through may be more than the first did.
bool grows(const Thinning::Stage& first, const Thinning::Stage& second) {
  return (first.share && second.share && *second.share > *first.share) ||
         (first.most && second.most && *second.most > *first.most);
}

}  // namespace

std::vector<std::string> Thinning::problems(const ModelSpec& model) const {
  std::vector<std::string> all;
  const bool alike = std::ranges::all_of(model.groups, [](const LayerGroup& group) {
    const auto* attention = std::get_if<SoftmaxAttention>(&group.mixer);
    return attention && attention->window == 0;
  });
  if (!alike)
    all.push_back("token plan 'thinning' needs layers that attend to all keys and values: " + model.name +
                  " has others");
  if (stages.back().after >= model.layers())
    all.push_back(fmt::format("a stage of 'thinning' after {} layers leaves none behind it: {} has {}",
                              stages.back().after, model.name, model.layers()));
  return all;
}

TokenChange Thinning::change(std::size_t stages_passed) const {
  TokenChange change;
  for (std::size_t i = 0; i < stages_passed; ++i) {
    if (stages[i].share) change.passing.share = *stages[i].share;
    if (stages[i].most) change.passing.most = *stages[i].most;
  }
  if (keep) change.budget.share = change.passing.share > 0 ? std::min(*keep, change.passing.share) : *keep;
  else if (change.passing.most > 0) change.budget.entries = change.passing.most;
  else change.budget.share = change.passing.share > 0 ? change.passing.share : 1;
  change.scored_queries = scored_queries;
  return change;
}

// A model of several kinds of layers has each cut at the same share of its layers.
void Thinning::apply(ModelSpec& model) const {
  const double layers = model.layers();
  std::vector<LayerGroup> groups;
  for (const LayerGroup& group : model.groups) {
    int begin = 0;
    for (std::size_t passed = 0; passed <= stages.size(); ++passed) {
      const int end =
          passed == stages.size()
              ? group.count
              : static_cast<int>(std::lround(static_cast<double>(stages[passed].after) / layers * group.count));
      if (end > begin) {
        groups.push_back(group);
        groups.back().count = end - begin;
        groups.back().change = change(passed);
      }
      begin = std::max(begin, end);
    }
  }
  model.groups = std::move(groups);
}

const Fields<Thinning>& thinning_fields() {
  static const Fields<Thinning> fields = [] {
    Fields<Thinning> f("thinning", "prompts of which a part goes on behind some layers (FastKV, arXiv 2502.01068)");
    f.add_group("stages", &Thinning::stages, stage_fields(), "where, first layers first").required();
    f.add("keep", &Thinning::keep,
          "share of a prompt's KV entries that stays in each layer when it is computed; absent: of all tokens that "
          "passed it")
        .above(0)
        .at_most(1);
    f.add("scored_queries", &Thinning::scored_queries,
          "last tokens of the prompt that are scored against all keys of a layer to choose; 0: free")
        .between(0, kMostTokens);
    f.check([](const Thinning& plan, const YamlNode& node, Diagnostics& diagnostics) {
      if (plan.stages.empty()) diagnostics.error(node.where, "'thinning' needs a stage");
      bool most = false;
      for (std::size_t i = 0; i < plan.stages.size(); ++i) {
        most = most || plan.stages[i].most.has_value();
        if (i == 0) continue;
        if (plan.stages[i].after <= plan.stages[i - 1].after)
          diagnostics.error(node.where, "each stage of 'thinning' comes after more layers than the one before it");
        if (grows(plan.stages[i - 1], plan.stages[i]))
          diagnostics.error(node.where, "what a stage of 'thinning' has left behind does not come back");
      }
      if (most && plan.keep)
        diagnostics.error(node.where, "'keep' is a share of the prompt: it goes with stages that have a 'share'");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::models
