// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/batchers/vllm_v1.hpp"
#include "tests/support/serving_bench.hpp"

// An engine that anybody can compute with: every step takes 10 ms and a tenth of a millisecond for each prompt token;
// no step is planned before the last has ended, and no prefix is cached.
namespace llmscape::testing {

inline constexpr double kStep = 0.01;
inline constexpr double kPerPromptToken = 1e-4;
inline constexpr double kPrefill = kStep + 1000 * kPerPromptToken;  // of a prompt of 1,000 tokens

inline double plain_seconds(const models::Batch& batch) {
  return kStep + kPerPromptToken * static_cast<double>(batch.prefill_tokens());
}

inline serving::VllmV1 plain_policy() {
  serving::VllmV1 policy;
  policy.max_num_batched_tokens = 8192;
  policy.max_num_seqs = 64;
  policy.async_scheduling = false;
  policy.enable_prefix_caching = false;
  return policy;
}

// A controller that does these, in order of time.
inline std::function<std::unique_ptr<serving::Controller>()> script(std::vector<Script::Act> acts) {
  return [acts] { return std::make_unique<Script>(acts); };
}

inline Prompt prompt(ContentId id, std::int64_t tokens = 1000) { return {{id, tokens, 0}}; }

}  // namespace llmscape::testing
