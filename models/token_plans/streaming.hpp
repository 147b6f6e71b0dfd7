// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "models/token_plan.hpp"

namespace llmscape::models {

// StreamingLLM (arXiv 2309.17453), and MInference's A-shape heads: prompts and decodes attend to the first `sinks`
// tokens and the last `window` ones, which is all that such a cache would keep. Sliding windows that a model has itself
// stay as they are.
struct Streaming : TokenPlan {
  std::int64_t sinks = 4, window = 2044;  // 2,048 entries in all

  [[nodiscard]] std::vector<std::string> problems(const ModelSpec& model) const override;
  void apply(ModelSpec& model) const override;
};
const Fields<Streaming>& streaming_fields();

}  // namespace llmscape::models
