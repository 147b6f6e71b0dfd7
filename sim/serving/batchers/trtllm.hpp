// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/batcher.hpp"

namespace llmscape::serving {

// In-flight batching as TensorRT-LLM schedules it (tensorrt_llm/_torch/pyexecutor/{scheduler,py_executor}.py, 2025):
// every step takes one token of each running sequence and whole prompts beside them.
struct TrtLlm : BatcherPolicy {
  // What admission demands of the KV pool: the whole prompt and answer, so that nothing is ever preempted
  // (GUARANTEED_NO_EVICT), or the prompt alone, so that the last admitted may have to give way (MAX_UTILIZATION).
  enum class Capacity { guaranteed_no_evict, max_utilization };

  std::int64_t max_batch_size = 256;
  std::int64_t max_num_tokens = 8192;
  Capacity capacity = Capacity::guaranteed_no_evict;
  // Prompts wait for company while others decode: at most so many steps, or until the step would hold this share of
  // max_num_tokens (batch_wait_timeout_iters, batch_wait_max_tokens_ratio).
  std::int64_t batch_wait_steps = 0;
  double batch_wait_share = 0;
  bool overlap_scheduler = true;

  [[nodiscard]] std::unique_ptr<Batcher> make() const override;
  [[nodiscard]] std::int64_t max_sequences() const override { return max_batch_size; }
  [[nodiscard]] std::int64_t max_tokens() const override { return max_num_tokens; }
  [[nodiscard]] int depth() const override { return overlap_scheduler ? 2 : 1; }
  [[nodiscard]] bool kv_grows() const override { return capacity == Capacity::max_utilization; }
};
const Fields<TrtLlm>& trtllm_fields();

}  // namespace llmscape::serving
