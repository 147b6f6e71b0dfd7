// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/decode_attention.cuh"
#include "paged_sequences.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {
using namespace llmscape::hardware::harness::cuda;

template <int kHeadDim>
double error_of(const std::vector<int>& contexts, int kv_heads, int group, int splits, emulated::Order order) {
  PagedSequences sequences(contexts, kv_heads, kHeadDim);
  const int count = static_cast<int>(contexts.size()), heads = kv_heads * group;
  const auto queries = random_numbers(static_cast<std::size_t>(count) * heads * kHeadDim, 3);
  std::vector<Bf16> out(queries.size(), Bf16{0xffff});
  std::vector<float> workspace(static_cast<std::size_t>(decode_workspace_floats(count, heads, kHeadDim, splits)), NAN);
  DecodeAttention work{{heads, 1 / std::sqrt(static_cast<float>(kHeadDim))},
                       sequences.kv,
                       queries.data(),
                       sequences.contexts.data(),
                       out.data(),
                       workspace.data(),
                       count,
                       splits};
  for (int s = 0; s < count; ++s) {
    for (int head = 0; head < kv_heads; ++head) {
      for (int split = 0; split < splits; ++split) {
        const BlockIndex block{split, head, s};
        emulated::run_block(DecodeBlock<kHeadDim>::kThreads, block, order,
                            [&] { DecodeBlock<kHeadDim>(work, block).run(); });
      }
    }
  }
  for (int row = 0; splits > 1 && row < count * heads; ++row) {
    emulated::run_block(kHeadDim, {row, 0, 0}, order, [&] { merge_splits<kHeadDim>(work, {row, 0, 0}); });
  }
  double largest = 0;
  for (int row = 0; row < count * heads; ++row) {
    const auto wanted =
        sequences.attend(queries.data() + row * kHeadDim, row / heads, row % heads / group, contexts[row / heads]);
    largest = std::max(largest, largest_difference(wanted, out.data() + row * kHeadDim));
  }
  return largest;
}

// Weights and outputs are rounded to bf16: 2^-9 of numbers below 1, twice.
constexpr double kRounding = 4e-3;

}  // namespace

TEST_CASE("Decode attention on the emulated GPU is attention") {
  for (const auto order : {emulated::Order::kForward, emulated::Order::kBackward}) {
    CHECK(error_of<128>({1, 16, 17, 150}, 2, 4, 1, order) < kRounding);
    CHECK(error_of<64>({33, 300}, 1, 8, 1, order) < kRounding);
    CHECK(error_of<128>({70}, 1, 16, 1, order) < kRounding);
    CHECK(error_of<64>({5, 90}, 3, 1, 1, order) < kRounding);
  }
}

TEST_CASE("Decode attention gives the same when keys are dealt out to splits, some of them empty") {
  for (const int splits : {2, 3, 7}) {
    CHECK(error_of<128>({1, 200, 97}, 1, 4, splits, emulated::Order::kForward) < kRounding);
    CHECK(error_of<64>({16, 260}, 2, 2, splits, emulated::Order::kBackward) < kRounding);
  }
}

TEST_CASE("Splits cover every block of keys once") {
  for (const int context : {1, 15, 16, 17, 1000}) {
    for (const int splits : {1, 2, 5, 64}) {
      int covered = 0;
      for (int split = 0; split < splits; ++split) {
        const Range range = split_range(context, split, splits);
        CHECK(range.begin == std::min(covered, blocks_for(context)));
        covered = std::max(covered, range.end);
      }
      CHECK(covered == blocks_for(context));
    }
  }
}

TEST_CASE("Splits fill the multiprocessors when sequences are few, and are none when they are many") {
  CHECK(decode_splits(132, 1, 8, 128 << 10) >= 30);  // 8 blocks of threads for 264 places
  CHECK(decode_splits(132, 512, 8, 4096) == 1);
  CHECK(decode_splits(132, 1, 8, 64) == 1);  // four blocks of keys: nothing to deal out
}
