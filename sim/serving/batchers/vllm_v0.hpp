// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/batcher.hpp"

namespace llmscape::serving {

// Prefill first, as vLLM 0.2 to 0.6 schedules: whole prompts alone in a step, else one token of every running sequence.
struct VllmV0 : BatcherPolicy {
  std::int64_t max_num_seqs = 256;
  std::int64_t max_num_batched_tokens = 8192;
  double watermark = 0.01;
  bool enable_prefix_caching = false;

  [[nodiscard]] std::unique_ptr<Batcher> make() const override;
  [[nodiscard]] std::int64_t max_sequences() const override { return max_num_seqs; }
  [[nodiscard]] std::int64_t max_tokens() const override { return max_num_batched_tokens; }
  [[nodiscard]] bool prefix_caching() const override { return enable_prefix_caching; }
};
const Fields<VllmV0>& vllm_v0_fields();

}  // namespace llmscape::serving
