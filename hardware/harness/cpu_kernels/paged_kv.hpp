// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "hardware/harness/cpu_kernels/large_vector.hpp"

namespace llmscape::hardware::harness::cpu_kernels {

// The keys and values of one layer in blocks of 16 tokens. A sequence is a table of blocks, in its order; blocks need
// not lie together. Within a block and KV head, values stand token after token, keys transposed: one element of all 16
// tokens is one vector, so that scores need no sums across a register.
class PagedKv {
 public:
  static constexpr std::int64_t kBlockTokens = 16;

  PagedKv(std::int64_t blocks, std::int64_t kv_heads, std::int64_t head_dim);

  [[nodiscard]] std::int64_t kv_heads() const { return kv_heads_; }
  [[nodiscard]] std::int64_t head_dim() const { return head_dim_; }
  // head_dim x 16
  [[nodiscard]] const float* keys(std::int64_t block, std::int64_t kv_head) const {
    return keys_.data() + at(block, kv_head);
  }
  // 16 x head_dim
  [[nodiscard]] const float* values(std::int64_t block, std::int64_t kv_head) const {
    return values_.data() + at(block, kv_head);
  }
  // Key and value of the token at `position` of the sequence, all KV heads one after another.
  void write(std::span<const std::int32_t> table, std::int64_t position, std::span<const float> key,
             std::span<const float> value);

 private:
  [[nodiscard]] std::ptrdiff_t at(std::int64_t block, std::int64_t kv_head) const {
    return (block * kv_heads_ + kv_head) * head_dim_ * kBlockTokens;
  }
  std::int64_t kv_heads_, head_dim_;
  LargeVector keys_, values_;
};

}  // namespace llmscape::hardware::harness::cpu_kernels
