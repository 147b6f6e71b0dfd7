// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "models/token_plans/kv_budget.hpp"

namespace llmscape::models {

// StreamingLLM (arXiv 2309.17453), and MInference's A-shape heads: prompts and decodes attend to the first `sinks`
// tokens and the last `window` ones, which is all that such a cache would keep; the pages of a paged one stay. A KV
// budget by position that frees nothing.
struct Streaming : TokenPlan {
  std::int64_t sinks = 4, window = 2044;  // 2,048 entries in all

  [[nodiscard]] std::vector<std::string> problems(const ModelSpec& model) const override {
    return budget().problems(model);
  }
  void apply(ModelSpec& model) const override { budget().apply(model); }

 private:
  [[nodiscard]] KvBudgetPlan budget() const;
};
const Fields<Streaming>& streaming_fields();

}  // namespace llmscape::models
