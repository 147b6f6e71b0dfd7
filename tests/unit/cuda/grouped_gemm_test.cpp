// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/grouped_gemm.cuh"
#include "paged_sequences.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace grouped_gemm_test {

namespace {
using namespace llmscape::hardware::harness::cuda;

template <int kTileRows>
double error_of(const std::vector<int>& rows_of, int n, int k, emulated::Order order) {
  const int rows = std::accumulate(rows_of.begin(), rows_of.end(), 0);
  const auto x = random_numbers(static_cast<std::size_t>(rows) * k, 1);
  const auto weights = random_numbers(rows_of.size() * n * k, 2);
  std::vector<Bf16> out(static_cast<std::size_t>(rows) * n, Bf16{0xffff});
  const auto tiles = row_tiles(rows_of, kTileRows);
  const GroupedGemm work{
      x.data(), weights.data(), out.data(), tiles.data(), static_cast<int>(tiles.size()), kTileRows, n, k};
  using Block = GroupedGemmBlock<kTileRows>;
  double largest = 0;
  for (int tile = 0; tile < work.tile_count; ++tile) {
    for (int column = 0; column * Block::kColumns < n; ++column) {
      const BlockIndex block{tile, column, 0};
      emulated::run_block(Block::kThreads, block, order, [&] { Block(work, block).run(); });
    }
    for (int row = tiles[tile].first_row; row < tiles[tile].first_row + tiles[tile].rows; ++row) {
      std::vector<double> wanted(static_cast<std::size_t>(n));
      for (int j = 0; j < n; ++j) {
        const std::size_t weight = (static_cast<std::size_t>(tiles[tile].expert) * n + j) * k;
        for (int i = 0; i < k; ++i) wanted[j] += to_float(x[row * k + i]) * to_float(weights[weight + i]);
      }
      largest = std::max(largest, largest_difference(wanted, out.data() + static_cast<std::size_t>(row) * n));
    }
  }
  return largest;
}

// Sums of 320 products of numbers below 1 stay below 64; the output is rounded to bf16, 2^-9 of it.
constexpr double kRounding = 64.0 / 512;

}  // namespace

TEST_CASE("Grouped GEMM on the emulated GPU multiplies each row with its expert's weights") {
  CHECK(error_of<16>({3, 0, 17, 1}, 192, 320, emulated::Order::kForward) < kRounding);
  CHECK(error_of<64>({70, 5}, 128, 128, emulated::Order::kBackward) < kRounding);
  CHECK(error_of<128>({1, 130}, 64, 256, emulated::Order::kForward) < kRounding);
}

TEST_CASE("Row tiles cover every row once, and no tile meets two experts") {
  const auto tiles = row_tiles(std::vector<int>{3, 0, 130}, 64);
  REQUIRE(tiles.size() == 4);
  CHECK(tiles[0].rows == 3);
  CHECK(tiles[1].expert == 2);
  CHECK(tiles[1].first_row == 3);
  CHECK(tiles[3].first_row + tiles[3].rows == 133);
}

}  // namespace grouped_gemm_test
