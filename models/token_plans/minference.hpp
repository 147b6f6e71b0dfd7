// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "models/token_plan.hpp"

namespace llmscape::models {

// MInference (arXiv 2407.02490), all heads vertical-slash: a token of a prompt attends to `vertical` columns and
// `slash` diagonals of the causal matrix, means over the heads. They are found again for each chunk of a prompt from
// the scores of its last `estimate_queries` tokens against all keys. Decodes attend to everything.
struct MInference : TokenPlan {
  std::int64_t vertical = 804, slash = 3182;  // the means of the shipped configuration of Llama-3-8B-Instruct-262k
  std::int64_t estimate_queries = 64;
  std::string kernel = "minference";

  [[nodiscard]] std::vector<std::string> problems(const ModelSpec& model) const override;
  void apply(ModelSpec& model) const override;
};
const Fields<MInference>& minference_fields();

}  // namespace llmscape::models
