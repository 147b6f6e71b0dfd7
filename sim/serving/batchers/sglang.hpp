// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/batcher.hpp"

namespace llmscape::serving {

// Prefill first, as SGLang schedules (python/sglang/srt/managers/{scheduler,schedule_policy}.py, 2025-2026): while
// prompts wait and fit, a step takes chunks of prompts only and decodes pause; then one token of every sequence.
struct SgLang : BatcherPolicy {
  enum class Chunks {
    equal_tokens,
    // What follows the first chunk of a prompt is cut so that each chunk takes as long as the first: later ones attend
    // to more and hold fewer tokens (enable_dynamic_chunking; dynamic chunked pipeline parallelism, arXiv 2501.15383).
    equal_time
  };
  std::int64_t max_running_requests = 256;
  std::int64_t chunked_prefill_size = 8192;
  Chunks chunks = Chunks::equal_tokens;
  // A sequence is expected to use this share of the tokens that it may still answer: from `new_token_ratio` down to
  // `least_new_token_ratio` over `decay_steps` decode steps, and up again after a preemption.
  double new_token_ratio = 0.7;
  double least_new_token_ratio = 0.098;
  std::int64_t decay_steps = 600;
  bool radix_cache = true;
  bool overlap_schedule = true;

  [[nodiscard]] std::unique_ptr<Batcher> make() const override;
  [[nodiscard]] bool cuts_prompts() const override { return true; }
  [[nodiscard]] std::int64_t max_sequences() const override { return max_running_requests; }
  [[nodiscard]] std::int64_t max_tokens() const override { return chunked_prefill_size; }
  // The scheduler of each rank takes max_running_requests // dp_size.
  [[nodiscard]] std::shared_ptr<const BatcherPolicy> of_rank(std::int64_t ranks) const override;
  [[nodiscard]] int depth() const override { return overlap_schedule ? 2 : 1; }
  [[nodiscard]] bool prefix_caching() const override { return radix_cache; }
};
const Fields<SgLang>& sglang_fields();

}  // namespace llmscape::serving
