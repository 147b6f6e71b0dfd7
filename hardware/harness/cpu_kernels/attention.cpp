// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu_kernels/attention.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace llmscape::hardware::harness::cpu_kernels {
namespace {

constexpr std::int64_t kBlock = PagedKv::kBlockTokens;

// One token's attention to the first `context` of a sequence.
void attend(const PagedKv& kv, std::span<const float> query, std::span<const std::int32_t> table, std::int64_t context,
            std::span<float> output) {
  const std::int64_t width = kv.head_dim(), heads = static_cast<std::int64_t>(query.size()) / width;
  const std::int64_t group = heads / kv.kv_heads();
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  std::vector<float> scores(static_cast<std::size_t>(context));
  for (std::int64_t head = 0; head < heads; ++head) {
    const float* q = query.data() + head * width;
    float* out = output.data() + head * width;
    for (std::int64_t token = 0; token < context; ++token) {
      const float* keys = kv.keys(table[static_cast<std::size_t>(token / kBlock)], head / group) + token % kBlock;
      float score = 0;
      for (std::int64_t i = 0; i < width; ++i) score += q[i] * keys[i * kBlock];
      scores[static_cast<std::size_t>(token)] = score * scale;
    }
    const float largest = *std::ranges::max_element(scores);
    float sum = 0;
    for (float& score : scores) sum += score = std::exp(score - largest);
    std::fill_n(out, width, 0.0F);
    for (std::int64_t token = 0; token < context; ++token) {
      const float* values =
          kv.values(table[static_cast<std::size_t>(token / kBlock)], head / group) + token % kBlock * width;
      for (std::int64_t i = 0; i < width; ++i) out[i] += scores[static_cast<std::size_t>(token)] / sum * values[i];
    }
  }
}

}  // namespace

void paged_decode_attention(const PagedKv& kv, Rows<const float> queries,
                            std::span<const std::span<const std::int32_t>> tables,
                            std::span<const std::int64_t> contexts, Rows<float> outputs) {
  for (std::size_t i = 0; i < contexts.size(); ++i)
    attend(kv, queries[static_cast<std::int64_t>(i)], tables[i], contexts[i], outputs[static_cast<std::int64_t>(i)]);
}

void paged_prefill_attention(const PagedKv& kv, Rows<const float> queries, std::span<const std::int32_t> table,
                             std::int64_t cached, Rows<float> outputs) {
  for (std::int64_t row = 0; row < queries.rows; ++row) attend(kv, queries[row], table, cached + row + 1, outputs[row]);
}

}  // namespace llmscape::hardware::harness::cpu_kernels
