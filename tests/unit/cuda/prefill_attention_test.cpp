// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/prefill_attention.cuh"

#include "hardware/harness/cuda/kernels/hopper_prefill.cuh"
#include "paged_sequences.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace prefill_attention_test {

namespace {
using namespace llmscape::hardware::harness::cuda;

struct Chunk {
  int tokens, cached;
};

template <class Block>
double error_with(const std::vector<Chunk>& chunks, int kv_heads, int group, emulated::Order order) {
  constexpr int kHeadDim = Block::kHeadWidth;
  std::vector<int> contexts, first_row{0};
  int longest = 0;
  for (const Chunk& chunk : chunks) {
    contexts.push_back(chunk.cached + chunk.tokens);
    first_row.push_back(first_row.back() + chunk.tokens);
    longest = std::max(longest, chunk.tokens);
  }
  PagedSequences sequences(contexts, kv_heads, kHeadDim);
  const int heads = kv_heads * group;
  const auto queries = random_numbers(static_cast<std::size_t>(first_row.back()) * heads * kHeadDim, 3);
  std::vector<Bf16> out(queries.size(), Bf16{0xffff});
  const PrefillAttention work{{heads, 1 / std::sqrt(static_cast<float>(kHeadDim))},
                              sequences.kv,
                              queries.data(),
                              first_row.data(),
                              sequences.contexts.data(),
                              out.data(),
                              static_cast<int>(chunks.size()),
                              longest};
  for (int s = 0; s < work.sequences; ++s) {
    for (int head = 0; head < kv_heads; ++head) {
      for (int tile = 0; tile * Block::kRows < longest * group; ++tile) {
        const BlockIndex block{tile, head, s};
        emulated::run_block(Block::kThreads, block, order, [&] { Block(work, block).run(); });
      }
    }
  }
  double largest = 0;
  for (int s = 0; s < work.sequences; ++s) {
    for (int token = 0; token < chunks[s].tokens; ++token) {
      for (int head = 0; head < heads; ++head) {
        const std::size_t at = (static_cast<std::size_t>(first_row[s] + token) * heads + head) * kHeadDim;
        const auto wanted = sequences.attend(queries.data() + at, s, head / group, chunks[s].cached + token + 1);
        largest = std::max(largest, largest_difference(wanted, out.data() + at));
      }
    }
  }
  return largest;
}

// The larger error of the two kernels.
template <int kHeadDim>
double error_of(const std::vector<Chunk>& chunks, int kv_heads, int group, emulated::Order order) {
  return std::max(error_with<PrefillBlock<kHeadDim>>(chunks, kv_heads, group, order),
                  error_with<HopperPrefillBlock<kHeadDim>>(chunks, kv_heads, group, order));
}

// Weights and outputs are rounded to bf16: 2^-9 of numbers below 1, twice.
constexpr double kRounding = 4e-3;

}  // namespace

TEST_CASE("Prefill attention on the emulated GPU is causal attention") {
  for (const auto order : {emulated::Order::kForward, emulated::Order::kBackward}) {
    CHECK(error_of<128>({{70, 0}}, 1, 4, order) < kRounding);
    CHECK(error_of<64>({{129, 0}, {16, 0}}, 1, 1, order) < kRounding);
  }
}

TEST_CASE("Prefill attention sees the tokens cached before the chunk") {
  CHECK(error_of<128>({{5, 100}, {40, 63}}, 2, 2, emulated::Order::kForward) < kRounding);
  CHECK(error_of<64>({{1, 64}, {65, 1}}, 1, 3, emulated::Order::kBackward) < kRounding);
}

}  // namespace prefill_attention_test
