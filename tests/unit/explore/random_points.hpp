// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "sim/explore/dominance.hpp"

namespace llmscape::explore::test {

// Whole numbers from 0 to `most`: small ones make many points equal in some objectives.
inline std::vector<Losses> random_points(std::size_t count, std::size_t objectives, std::uint64_t most,
                                         std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::vector<Losses> points(count, Losses(objectives));
  for (Losses& point : points)
    for (double& value : point) value = static_cast<double>(draw() % (most + 1));
  return points;
}

}  // namespace llmscape::explore::test
