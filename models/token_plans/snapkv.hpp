// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "models/token_plans/kv_budget.hpp"

namespace llmscape::models {

// SnapKV (arXiv 2404.14469): when a prompt is computed, its last `window` queries score all its keys, and each head
// keeps `cap` entries of it: the best ones, and the window. Prompts attend to everything; decodes to what was kept and
// to what they have generated. A KV budget that is chosen at the prompt's end and grows.
struct SnapKv : TokenPlan {
  std::int64_t cap = 4096;   // max_capacity_prompt of the paper's experiments
  std::int64_t window = 32;  // the authors' configuration

  [[nodiscard]] std::vector<std::string> problems(const ModelSpec& model) const override {
    return budget().problems(model);
  }
  void apply(ModelSpec& model) const override { budget().apply(model); }

 private:
  [[nodiscard]] KvBudgetPlan budget() const;
};
const Fields<SnapKv>& snapkv_fields();

}  // namespace llmscape::models
