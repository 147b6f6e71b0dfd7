// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/batchers/token_budget.hpp"

namespace llmscape::serving {

// Prefill first, as vLLM 0.2 to 0.6 schedules: whole prompts alone in a step, else one token of every running sequence.
struct VllmV0 : TokenBudget {
  double watermark = 0.01;
  bool enable_prefix_caching = false;

  [[nodiscard]] std::unique_ptr<Batcher> make() const override;
  [[nodiscard]] bool prefix_caching() const override { return enable_prefix_caching; }
};
const Fields<VllmV0>& vllm_v0_fields();

}  // namespace llmscape::serving
