// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/chip.hpp"

#include <cmath>

namespace llmscape::hardware {

// Share of `bytes` that is still in `held` of L2 when they are read again, everything between being those bytes.
inline double l2_hits(const Chip& chip, double bytes, double held = 1) {
  constexpr double kEviction = 8;  // how sharply hits end: fits of the warm attention tables of A100 and Hopper
  return 1 / (1 + std::pow(bytes / (held * chip.l2.value.si()), kEviction));
}

}  // namespace llmscape::hardware
