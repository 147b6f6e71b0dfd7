// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "hardware/harness/cpu_kernels/paged_kv.hpp"
#include "hardware/harness/cpu_kernels/rows.hpp"

namespace llmscape::hardware::harness::cpu_kernels {

inline constexpr std::int64_t kWidestHead = 256;

// Attention of one layer, scores scaled by 1 / sqrt(head_dim). A row of queries and outputs is all heads of a token; a
// row's width over head_dim is the number of heads, a multiple of the KV heads. head_dim: a multiple of 16, at most
// kWidestHead. Keys and values of the new tokens have been written before.

// One token of each sequence, the last of its context.
void paged_decode_attention(const PagedKv& kv, Rows<const float> queries,
                            std::span<const std::span<const std::int32_t>> tables,
                            std::span<const std::int64_t> contexts, Rows<float> outputs);

// The new tokens of one sequence behind `cached` ones, each attending to itself and all before it.
void paged_prefill_attention(const PagedKv& kv, Rows<const float> queries, std::span<const std::int32_t> table,
                             std::int64_t cached, Rows<float> outputs);

}  // namespace llmscape::hardware::harness::cpu_kernels
