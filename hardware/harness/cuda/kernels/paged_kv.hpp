// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/numbers.hpp"

namespace llmscape::hardware::harness::cuda {

inline constexpr int kBlockTokens = 16;

// Keys and values in blocks of 16 tokens. A block holds [kv_heads][16][head_dim], so that what one head of it holds is
// contiguous: 2 or 4 KiB. Token t of sequence s stands in block block_table[s * blocks_per_sequence + t / 16].
struct PagedKv {
  Bf16 *keys = nullptr, *values = nullptr;
  const int* block_table = nullptr;  // on the device
  int blocks_per_sequence = 0;       // the stride of the table
  int kv_heads = 0, head_dim = 0;
};

// Where the 16 tokens of a head stand in block `block`, in elements.
constexpr long head_offset(const PagedKv& kv, long block, int kv_head) {
  return (block * kv.kv_heads + kv_head) * kBlockTokens * kv.head_dim;
}
constexpr int blocks_for(int tokens) { return (tokens + kBlockTokens - 1) / kBlockTokens; }

}  // namespace llmscape::hardware::harness::cuda
