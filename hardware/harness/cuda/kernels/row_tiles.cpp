// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/grouped_gemm.hpp"

#include <algorithm>

namespace llmscape::hardware::harness::cuda {

std::vector<RowTile> row_tiles(std::span<const int> rows_of, int tile_rows) {
  std::vector<RowTile> tiles;
  int first = 0;
  for (int expert = 0; expert < static_cast<int>(rows_of.size()); ++expert) {
    const int end = first + rows_of[static_cast<std::size_t>(expert)];
    for (; first < end; first += tile_rows) tiles.push_back({expert, first, std::min(tile_rows, end - first)});
    first = end;
  }
  return tiles;
}

int best_tile_rows(long rows, int experts) {
  const long each = (rows + experts - 1) / experts;
  return each <= 16 ? 16 : each <= 64 ? 64 : 128;
}

}  // namespace llmscape::hardware::harness::cuda
