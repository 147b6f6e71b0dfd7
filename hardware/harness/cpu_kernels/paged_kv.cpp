// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu_kernels/paged_kv.hpp"

#include <algorithm>

namespace llmscape::hardware::harness::cpu_kernels {

PagedKv::PagedKv(std::int64_t blocks, std::int64_t kv_heads, std::int64_t head_dim)
    : kv_heads_(kv_heads), head_dim_(head_dim),
      keys_(static_cast<std::size_t>(blocks * kv_heads * head_dim * kBlockTokens)), values_(keys_.size()) {}

void PagedKv::write(std::span<const std::int32_t> table, std::int64_t position, std::span<const float> key,
                    std::span<const float> value) {
  const std::int32_t block = table[static_cast<std::size_t>(position / kBlockTokens)];
  const std::int64_t slot = position % kBlockTokens;
  for (std::int64_t head = 0; head < kv_heads_; ++head) {
    float* keys = keys_.data() + at(block, head) + slot;
    const float* from = key.data() + head * head_dim_;
    for (std::int64_t i = 0; i < head_dim_; ++i) keys[i * kBlockTokens] = from[i];
    std::copy_n(value.data() + head * head_dim_, head_dim_, values_.data() + at(block, head) + slot * head_dim_);
  }
}

}  // namespace llmscape::hardware::harness::cpu_kernels
