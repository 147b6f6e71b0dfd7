// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/batchers/token_budget.hpp"

namespace llmscape::serving {

// Continuous batching as vLLM 1 schedules it (vllm/v1/core/sched/scheduler.py, 2025-2026).
struct VllmV1 : TokenBudget {
  std::int64_t long_prefill_token_threshold = 0;
  bool chunked_prefill = true;
  bool reserve_full_prompt = true;
  double watermark = 0;
  bool async_scheduling = true;
  bool enable_prefix_caching = true;

  [[nodiscard]] std::unique_ptr<Batcher> make() const override;
  [[nodiscard]] int depth() const override { return async_scheduling ? 2 : 1; }
  [[nodiscard]] bool prefix_caching() const override { return enable_prefix_caching; }
  [[nodiscard]] bool cuts_prompts() const override { return chunked_prefill || long_prefill_token_threshold > 0; }
  [[nodiscard]] std::optional<std::int64_t> longest() const override {
    return chunked_prefill ? std::nullopt : std::optional(max_tokens());
  }
  [[nodiscard]] bool streams_prompts() const override { return !enable_prefix_caching; }
};
const Fields<VllmV1>& vllm_v1_fields();

}  // namespace llmscape::serving
