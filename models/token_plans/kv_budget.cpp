// SPDX-License-Identifier: Apache-2.0
#include "models/token_plans/kv_budget.hpp"

#include "models/token_plans/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace llmscape::models {
namespace {

// Layers that a budget is about: they keep entries, and attend to all of them.
bool takes_budget(const LayerGroup& group) {
  const SequenceState state = group.state({});
  return state.bytes_per_token > 0 && state.reach == 0;
}

std::int64_t rounded(double entries) { return std::llround(entries); }

int layers_with_budget(const ModelSpec& model) {
  int layers = 0;
  for (const LayerGroup& group : model.groups)
    if (takes_budget(group)) layers += group.count;
  return layers;
}

// One weight for each of `layers`, of which `given` are spread over them evenly: 1 in the mean.
std::vector<double> weights_of(const std::vector<double>& given, int layers) {
  std::vector<double> weights(static_cast<std::size_t>(layers), 1);
  if (given.empty()) return weights;
  for (std::size_t layer = 0; layer < weights.size(); ++layer)
    weights[layer] = given[layer * given.size() / weights.size()];
  const double mean = std::accumulate(weights.begin(), weights.end(), 0.0) / layers;
  for (double& weight : weights) weight /= mean;
  return weights;
}

}  // namespace

std::vector<std::string> KvBudgetPlan::problems(const ModelSpec& model) const {
  const int layers = layers_with_budget(model);
  if (layers == 0) return {"a KV budget needs layers that attend to everything: " + model.name + " has none"};
  std::vector<std::string> all;
  if (by_layer.size() > static_cast<std::size_t>(layers))
    all.push_back(fmt::format("'by_layer' has {} weights: {} has {} layers that attend to everything", by_layer.size(),
                              model.name, layers));
  if (select == Select::position) return all;
  // What a window reaches is told from how many entries the sequence has left.
  const std::vector<double> weights = weights_of(by_layer, layers);
  const std::int64_t least = keep ? rounded(static_cast<double>(*keep) * *std::ranges::min_element(weights)) : 0;
  for (const LayerGroup& group : model.groups) {
    const SequenceState state = group.state({});
    if (state.bytes_per_token > 0 && state.reach > least)
      all.push_back(
          fmt::format("a KV budget beside sliding windows must 'keep' at least a window in each layer: {} has "
                      "windows of {} tokens",
                      model.name, state.reach));
  }
  return all;
}

TokenChange KvBudgetPlan::change(double weight) const {
  TokenChange change;
  const std::int64_t least = std::max<std::int64_t>(1, positions());
  if (select == Select::position) {
    change.reach = change.prompt_reach = positions();
    change.prompt_kernel = "a_shape";
    change.keeps_all = !frees;
    if (frees) change.budget = {.entries = positions(), .each_chunk = true, .ring = true};
    return change;
  }
  if (keep) change.budget.entries = std::max(least, rounded(static_cast<double>(*keep) * weight));
  else change.budget.share = std::min(1.0, *share * weight);
  change.budget.each_chunk = select == Select::each_chunk;
  change.scored_queries = scored_queries;
  if (then == Then::ring) {
    change.budget.ring = true;
    change.reach = change.budget.entries;
  }
  return change;
}

void KvBudgetPlan::apply(ModelSpec& model) const {
  const std::vector<double> weights = weights_of(by_layer, layers_with_budget(model));
  std::vector<LayerGroup> groups;
  std::size_t layer = 0;
  for (const LayerGroup& group : model.groups) {
    if (!takes_budget(group)) {
      groups.push_back(group);
      continue;
    }
    for (int i = 0; i < group.count; ++i, ++layer) {
      const TokenChange wanted = change(weights[layer]);
      if (i == 0 || groups.back().change != wanted) {
        groups.push_back(group);
        groups.back().count = 0;
        groups.back().change = wanted;
      }
      ++groups.back().count;
    }
  }
  model.groups = std::move(groups);
}

const Fields<KvBudgetPlan>& kv_budget_fields() {
  static const Fields<KvBudgetPlan> fields = [] {
    using Plan = KvBudgetPlan;
    Fields<Plan> f("kv_budget", "a budget of KV entries in each layer that attends to everything");
    f.add("keep", &Plan::keep, "entries of a prompt that stay, mean over the layers").between(1, kMostTokens);
    f.add("share", &Plan::share, "in place of 'keep': the share of a prompt's entries that stays").above(0).at_most(1);
    f.add("sinks", &Plan::sinks, "first tokens that stay in any case").between(0, kMostTokens);
    f.add("window", &Plan::window, "last tokens that stay in any case").between(0, kMostTokens);
    f.add_enum("select", &Plan::select,
               {{"prompt_end", Plan::Select::prompt_end},
                {"each_chunk", Plan::Select::each_chunk},
                {"position", Plan::Select::position}},
               "when the others go: when the prompt is computed, after each chunk of it (never more than budget and "
               "chunk), or position: sinks and window alone stay, and prompts attend to nothing else");
    f.add_enum("then", &Plan::then, {{"growing", Plan::Then::growing}, {"ring", Plan::Then::ring}},
               "what an answer does: its entries are added, or replace the oldest of a buffer of 'keep'");
    f.add("scored_queries", &Plan::scored_queries,
          "last tokens of the prompt, or chunk, that are scored against all keys to choose what stays; 0: free")
        .between(0, kMostTokens);
    f.add("by_layer", &Plan::by_layer,
          "weights of the layers' budgets, first layers first; fewer than layers: each for an equal share of them")
        .above(0);
    f.add("frees", &Plan::frees,
          "with select: position: the cache gives back what nobody attends to; false: its pages stay");
    f.check([](const Plan& plan, const YamlNode& node, Diagnostics& diagnostics) {
      const auto wrong = [&](bool is, const std::string& message) {
        if (is) diagnostics.error(node.where, message);
      };
      if (plan.select == Plan::Select::position) {
        wrong(plan.keep || plan.share, "'select: position' keeps sinks and window: no 'keep' or 'share' beside it");
        wrong(plan.window == 0, "'select: position' needs a 'window'");
        wrong(plan.scored_queries > 0 || !plan.by_layer.empty(),
              "'select: position' scores nothing, and is alike in all layers: no 'scored_queries' or 'by_layer'");
        return;
      }
      wrong(plan.keep.has_value() == plan.share.has_value(), "a KV budget needs 'keep' or 'share', one of them");
      wrong(plan.keep && plan.sinks + plan.window > *plan.keep,
            fmt::format("'sinks' and 'window' ({}) stay too: 'keep' must not be below them", plan.sinks + plan.window));
      wrong(plan.share && plan.select == Plan::Select::each_chunk,
            "a share is that of a whole prompt: 'select: each_chunk' needs 'keep'");
      wrong(plan.share && plan.then == Plan::Then::ring, "a ring has one size: 'then: ring' needs 'keep'");
      wrong(!plan.frees, "'frees' is for 'select: position': a budget that is chosen always frees");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::models
