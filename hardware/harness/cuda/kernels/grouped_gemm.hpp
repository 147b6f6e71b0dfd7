// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/numbers.hpp"
#include "hardware/harness/cuda/runtime.hpp"

#include <span>
#include <vector>

namespace llmscape::hardware::harness::cuda {

// Some consecutive rows that meet the same expert.
struct RowTile {
  int expert = 0, first_row = 0, rows = 0;
};

// Rows sorted by expert, rows_of[e] for expert e, cut into tiles of at most `tile_rows`.
std::vector<RowTile> row_tiles(std::span<const int> rows_of, int tile_rows);

// The height of tile that wastes least for `rows` over `experts`: 16, 64 or 128.
int best_tile_rows(long rows, int experts);

// out[r][n] = sum over k of x[r][k] weights[expert of r][n][k]; bf16, summed in float. n and k are multiples of 64.
struct GroupedGemm {
  const Bf16 *x = nullptr, *weights = nullptr;
  Bf16* out = nullptr;
  const RowTile* tiles = nullptr;  // on the device; none taller than tile_rows
  int tile_count = 0, tile_rows = 0;
  int n = 0, k = 0;
};
void grouped_gemm(const GroupedGemm& work, Stream stream);

}  // namespace llmscape::hardware::harness::cuda
