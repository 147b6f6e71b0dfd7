// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/batcher.hpp"

namespace llmscape::serving {

// Iteration-level scheduling without chunking (Yu et al., OSDI 2022): every step takes all running sequences and whole
// new prompts; memory for the whole length is reserved at admission.
struct Orca : BatcherPolicy {
  std::int64_t max_batch = 64;
  std::int64_t max_prompt_tokens = 16384;

  [[nodiscard]] std::unique_ptr<Batcher> make() const override;
  [[nodiscard]] std::int64_t max_sequences() const override { return max_batch; }
  [[nodiscard]] std::int64_t max_tokens() const override { return max_prompt_tokens; }
  [[nodiscard]] bool kv_grows() const override { return false; }
};
const Fields<Orca>& orca_fields();

}  // namespace llmscape::serving
