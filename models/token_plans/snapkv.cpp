// SPDX-License-Identifier: Apache-2.0
#include "models/token_plans/snapkv.hpp"

#include "models/token_plans/limits.hpp"

#include <string>

namespace llmscape::models {

KvBudgetPlan SnapKv::budget() const {
  KvBudgetPlan plan;
  plan.keep = cap;
  plan.window = plan.scored_queries = window;
  return plan;
}

const Fields<SnapKv>& snapkv_fields() {
  static const Fields<SnapKv> fields = [] {
    Fields<SnapKv> f("snapkv", "SnapKV (arXiv 2404.14469): a prompt's KV cache is cut to a cap when it is computed");
    f.add("cap", &SnapKv::cap, "entries of a prompt that stay").between(1, kMostTokens);
    f.add("window", &SnapKv::window, "last tokens of the prompt that are scored against all its keys to choose them")
        .between(1, kMostTokens);
    f.check([](const SnapKv& plan, const YamlNode& node, Diagnostics& diagnostics) {
      if (plan.window > plan.cap)
        diagnostics.error(node.where, "the 'window' (" + std::to_string(plan.window) + ") stays too: 'cap' (" +
                                          std::to_string(plan.cap) + ") must not be below it");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::models
