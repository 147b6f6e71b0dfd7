// SPDX-License-Identifier: Apache-2.0
#include "models/token_plan.hpp"
#include "models/token_plans/full.hpp"
#include "models/token_plans/kv_budget.hpp"
#include "models/token_plans/minference.hpp"
#include "models/token_plans/snapkv.hpp"
#include "models/token_plans/streaming.hpp"
#include "models/token_plans/swiftkv.hpp"
#include "models/token_plans/thinning.hpp"

#include <algorithm>

namespace llmscape::models {

const Family<TokenPlan>& token_plans() {
  static const Family<TokenPlan> family(
      "token_plan", "policy",
      {
          member<FullPlan, TokenPlan>("full", "every token passes every layer and attends to all before it",
                                      full_plan_fields()),
          member<SwiftKv, TokenPlan>("swiftkv", "prompts pass half of the layers only as keys and values",
                                     swiftkv_fields()),
          member<MInference, TokenPlan>("minference", "prompts attend to the vertical and slash lines of each head",
                                        minference_fields()),
          member<KvBudgetPlan, TokenPlan>("kv_budget", "so many of a prompt's KV entries stay in each layer",
                                          kv_budget_fields()),
          member<Streaming, TokenPlan>("streaming", "all attend to the first tokens and a window (StreamingLLM)",
                                       streaming_fields()),
          member<SnapKv, TokenPlan>("snapkv", "a prompt's KV cache is cut to a cap when it is computed",
                                    snapkv_fields()),
          member<Thinning, TokenPlan>("thinning", "behind some layers a part of a prompt's tokens goes on (FastKV)",
                                      thinning_fields()),
      });
  return family;
}

bool changed_by_plan(const ModelSpec& model) {
  return std::ranges::any_of(model.groups, [](const LayerGroup& group) { return !group.change.none(); });
}

bool changed_in_entries_only(const ModelSpec& model) {
  return std::ranges::all_of(model.groups, [](const LayerGroup& group) { return group.change.of_entries_only(); });
}

std::vector<std::string> latent_attention_problem(const ModelSpec& model, const std::string& plan) {
  const bool latent = std::ranges::any_of(
      model.groups, [](const LayerGroup& group) { return std::holds_alternative<LatentAttention>(group.mixer); });
  if (!latent) return {};
  return {"token plan '" + plan + "' needs keys and values: " + model.name + " has latent attention"};
}

}  // namespace llmscape::models
