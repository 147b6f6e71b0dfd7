// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/deep_gemm.hpp"

#include <algorithm>

namespace llmscape::hardware {
namespace {

constexpr std::int64_t kWarpGroupRows = 64, kMostRows = 128;
constexpr std::int64_t kLeastColumns = 16, kMostColumns = 128, kColumnStep = 8;

std::int64_t parts_of(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

}  // namespace

DeepGemmGrid deep_gemm_grid(const DeepGemm& kernel, std::int64_t rows, std::int64_t columns,
                            std::int64_t multiprocessors) {
  DeepGemmGrid grid;
  if (rows < kernel.swap_below) {
    const auto waves = [&](std::int64_t tile) { return parts_of(parts_of(columns, tile), multiprocessors); };
    grid.tile_rows = std::max(kLeastColumns, kColumnStep * parts_of(rows, kColumnStep));
    grid.tile_columns = waves(kMostColumns) < waves(kWarpGroupRows) ? kMostColumns : kWarpGroupRows;
    grid.blocks = static_cast<double>(parts_of(rows, grid.tile_rows) * parts_of(columns, grid.tile_columns));
    return grid;
  }
  grid.tile_rows = rows <= kWarpGroupRows ? kWarpGroupRows : kMostRows;
  const std::int64_t down = parts_of(rows, grid.tile_rows);
  std::int64_t least_waves = 0, fullest = 0;
  for (std::int64_t tile = kLeastColumns; tile <= kMostColumns; tile += kColumnStep) {
    const std::int64_t blocks = down * parts_of(columns, tile), waves = parts_of(blocks, multiprocessors);
    const std::int64_t last = blocks - (waves - 1) * multiprocessors;
    if (grid.tile_columns > 0 && (waves > least_waves || (waves == least_waves && last <= fullest))) continue;
    grid.tile_columns = tile;
    grid.blocks = static_cast<double>(blocks);
    least_waves = waves;
    fullest = last;
  }
  grid.missing_rows = static_cast<double>(std::min(kWarpGroupRows, down * grid.tile_rows - rows));
  const double waves = std::max(1.0, grid.blocks / static_cast<double>(multiprocessors));
  grid.turns = std::max(1.0, waves / static_cast<double>(down));
  return grid;
}

const Fields<DeepGemm>& deep_gemm_fields() {
  static const Fields<DeepGemm> fields = [] {
    Fields<DeepGemm> f("deep_gemm", "products in the tiles of DeepGEMM on Hopper");
    f.add("swap_below", &DeepGemm::swap_below, "products of fewer rows swap their sides; 0: none").between(0, 64);
    f.add("missing_row", &DeepGemm::missing_row, "for each row that the last tile lacks, and each 128 of depth")
        .at_least(0);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
