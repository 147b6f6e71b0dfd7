// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/serving/batcher.hpp"

namespace llmscape::serving {

// Chunked prefill with decode-maximal batches (SARATHI, arXiv 2308.16369, section 4): a step holds at most one chunk of
// one prompt, of `chunk_size` tokens, and every sequence that decodes rides along, at most `max_batch` of both. Memory
// for the whole length is reserved at admission, as the paper's engine does.
struct Sarathi : BatcherPolicy {
  std::int64_t chunk_size = 256;
  std::int64_t max_batch = 16;
  // The chunk gives way until chunk and decodes together are a multiple of this many tokens (section 4.4); 0: it does
  // not. It stays whole where nothing of it would be left.
  std::int64_t tile = 0;

  [[nodiscard]] std::unique_ptr<Batcher> make() const override;
  [[nodiscard]] bool cuts_prompts() const override { return true; }
  [[nodiscard]] std::int64_t max_sequences() const override { return max_batch; }
  [[nodiscard]] std::int64_t max_tokens() const override { return chunk_size + max_batch - 1; }
  [[nodiscard]] bool kv_grows() const override { return false; }
};
const Fields<Sarathi>& sarathi_fields();

}  // namespace llmscape::serving
