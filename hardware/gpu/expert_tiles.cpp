// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/expert_tiles.hpp"

#include "models/expert_loads.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace llmscape::hardware {

double expert_tiles(const models::GroupedGemm& g, int tile_rows) {
  using Dealt = models::GroupedGemm::Dealt;
  const double rows = static_cast<double>(g.rows), experts = std::max(1.0, g.experts_touched);
  if (g.dealt == Dealt::by_popularity) {
    const double held = std::max(experts, static_cast<double>(g.experts_held));
    return experts + held * models::ExpertLoads(g.popularity, rows / held).further_tiles(tile_rows);
  }
  const double tiles = rows / experts / tile_rows;
  return experts * (g.dealt == Dealt::evenly ? std::ceil(tiles) : std::max(1.0, tiles + 0.5));
}

ExpertTiles::ExpertTiles(const models::GroupedGemm& g) : tiles_{} {
  std::ranges::transform(kHeights, tiles_.begin(), [&g](int height) { return expert_tiles(g, height); });
}

double ExpertTiles::operator()(int tile_rows) const {
  return tiles_.at(static_cast<std::size_t>(std::ranges::find(kHeights, tile_rows) - kHeights.begin()));
}

}  // namespace llmscape::hardware
