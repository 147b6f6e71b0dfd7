// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/batcher.hpp"

namespace llmscape::serving {

// Continuous batching as vLLM 1 schedules it (vllm/v1/core/sched/scheduler.py, 2025-2026).
struct VllmV1 : BatcherPolicy {
  std::int64_t max_num_seqs = 256;
  std::int64_t max_num_batched_tokens = 8192;
  std::int64_t long_prefill_token_threshold = 0;
  bool chunked_prefill = true;
  bool reserve_full_prompt = true;
  double watermark = 0;
  bool async_scheduling = true;
  bool enable_prefix_caching = true;

  [[nodiscard]] std::unique_ptr<Batcher> make() const override;
  [[nodiscard]] std::int64_t max_sequences() const override { return max_num_seqs; }
  [[nodiscard]] std::int64_t max_tokens() const override { return max_num_batched_tokens; }
  [[nodiscard]] int depth() const override { return async_scheduling ? 2 : 1; }
  [[nodiscard]] bool prefix_caching() const override { return enable_prefix_caching; }
  [[nodiscard]] bool streams_prompts() const override { return !enable_prefix_caching; }
};
const Fields<VllmV1>& vllm_v1_fields();

}  // namespace llmscape::serving
