// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "models/operator.hpp"

#include <array>

namespace llmscape::hardware {

// Tiles of `tile_rows` rows that the touched experts of a routed layer take. Rows that routing deals out fill the last
// tile of an expert by half: tables of experts with skewed rows are up to 60 % above those with even ones where these
// just fill a tile.
double expert_tiles(const models::GroupedGemm&, int tile_rows);

// The same for every height that kernels have, worked out once: a fit prices a layer ten thousand times.
class ExpertTiles {
 public:
  explicit ExpertTiles(const models::GroupedGemm&);
  // `tile_rows`: 8, 16, 32, 48, 64, 128 or 256; throws std::out_of_range for others.
  [[nodiscard]] double operator()(int tile_rows) const;

 private:
  static constexpr std::array kHeights = {8, 16, 32, 48, 64, 128, 256};
  std::array<double, kHeights.size()> tiles_;
};

}  // namespace llmscape::hardware
