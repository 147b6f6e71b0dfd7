// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/kernels/paged_kv.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace llmscape::hardware::harness::cuda {

inline std::vector<Bf16> random_numbers(std::size_t count, std::uint64_t seed) {
  std::vector<Bf16> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = to_bf16(2 * uniform(seed, i) - 1);
  return out;
}

// Sequences in blocks that stand in a pool in reverse order. What no token has written is no number.
struct PagedSequences {
  std::vector<int> contexts, table;
  std::vector<Bf16> keys, values;
  PagedKv kv;

  PagedSequences(std::vector<int> lengths, int kv_heads, int head_dim) : contexts(std::move(lengths)) {
    const int longest = blocks_for(*std::max_element(contexts.begin(), contexts.end()));
    const int pool = longest * static_cast<int>(contexts.size());
    for (int i = 0; i < pool; ++i) table.push_back(pool - 1 - i);
    keys = random_numbers(static_cast<std::size_t>(pool) * kBlockTokens * kv_heads * head_dim, 1);
    values = random_numbers(keys.size(), 2);
    kv = {keys.data(), values.data(), table.data(), longest, kv_heads, head_dim};
    for (int s = 0; s < static_cast<int>(contexts.size()); ++s) {
      for (int t = contexts[s]; t < longest * kBlockTokens; ++t) {
        for (int i = 0; i < kv_heads * head_dim; ++i) {
          keys[at(s, i / head_dim, t) + i % head_dim] = values[at(s, i / head_dim, t) + i % head_dim] = {0xffff};
        }
      }
    }
  }

  [[nodiscard]] std::size_t at(int sequence, int kv_head, int token) const {
    const int block = table[sequence * kv.blocks_per_sequence + token / kBlockTokens];
    return static_cast<std::size_t>(head_offset(kv, block, kv_head) + token % kBlockTokens * kv.head_dim);
  }

  // Attention of one query over the first `visible` tokens, in double precision.
  [[nodiscard]] std::vector<double> attend(const Bf16* query, int sequence, int kv_head, int visible) const {
    std::vector<double> out(static_cast<std::size_t>(kv.head_dim));
    double sum = 0;
    for (int t = 0; t < visible; ++t) {
      double score = 0;
      for (int i = 0; i < kv.head_dim; ++i) score += to_float(query[i]) * to_float(keys[at(sequence, kv_head, t) + i]);
      const double weight = std::exp(score / std::sqrt(kv.head_dim));
      sum += weight;
      for (int i = 0; i < kv.head_dim; ++i) out[i] += weight * to_float(values[at(sequence, kv_head, t) + i]);
    }
    for (double& x : out) x /= sum;
    return out;
  }
};

// The largest difference; infinite where something is no number.
inline double largest_difference(std::span<const double> wanted, const Bf16* got) {
  double largest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double difference = std::abs(wanted[i] - to_float(got[i]));
    largest = difference <= largest ? largest : std::isnan(difference) ? INFINITY : difference;
  }
  return largest;
}

}  // namespace llmscape::hardware::harness::cuda
