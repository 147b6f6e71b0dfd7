// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/batcher.hpp"

namespace llmscape::serving {

// Request-level batches (FasterTransformer, Hugging Face generate): prompts padded to the longest, decoded until the
// longest answer ends, nobody joins. Padding is computed and paid. Answers stream, slots stay taken.
struct StaticBatch : BatcherPolicy {
  std::int64_t max_batch = 16;
  std::int64_t max_prompt_tokens = 16384;

  [[nodiscard]] std::unique_ptr<Batcher> make() const override;
  [[nodiscard]] std::int64_t max_sequences() const override { return max_batch; }
  [[nodiscard]] std::int64_t max_tokens() const override { return max_prompt_tokens; }
  [[nodiscard]] bool kv_grows() const override { return false; }
};
const Fields<StaticBatch>& static_batch_fields();

}  // namespace llmscape::serving
