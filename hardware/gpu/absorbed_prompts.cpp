// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/absorbed_prompts.hpp"

#include <algorithm>

namespace llmscape::hardware {

std::vector<models::DecodeAttention> as_decodes(const models::PrefillAttention& shape,
                                                std::span<const models::PrefillChunk> chunks) {
  std::vector<models::DecodeAttention> all;
  for (const models::PrefillChunk& chunk : chunks) {
    auto same = std::ranges::find(all, chunk.tokens, &models::DecodeAttention::tokens_per_sequence);
    if (same == all.end()) {
      models::DecodeAttention decodes;
      decodes.tokens_per_sequence = chunk.tokens;
      decodes.heads = shape.heads;
      decodes.kv_heads = shape.kv_heads;
      decodes.head_dim = shape.head_dim;
      decodes.window = shape.window;
      decodes.kv = shape.kv;
      decodes.kernel = shape.kernel;
      decodes.value_dim = shape.value_dim;
      decodes.values_in_keys = shape.values_in_keys;
      same = all.insert(all.end(), decodes);
    }
    const std::int64_t context = chunk.cached + chunk.tokens;
    ++same->sequences;
    same->attended.sum += context;
    same->attended.max = std::max(same->attended.max, context);
  }
  return all;
}

}  // namespace llmscape::hardware
