// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/chip.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {

// Share of `bytes` that is still in `held` of L2 when they are read again, everything between being those bytes.
inline double l2_hits(const Chip& chip, double bytes, double held = 1) {
  constexpr double kEviction = 8;  // how sharply hits end: fits of the warm attention tables of A100 and Hopper
  return 1 / (1 + std::pow(bytes / (held * chip.l2.value.si()), kEviction));
}

// How often the keys of decodes are read from memory where each head of a group reads them by itself. The blocks of one
// head run before those of the next: heads share what they read while they run at the same time (half a head is lost at
// the ends), or where the keys of one KV head, `head_bytes` of all sequences, stay in L2.
inline double passes_over_keys(const Chip& chip, double group, double sequences, double head_bytes) {
  const double together = std::max(1.0, static_cast<double>(*chip.multiprocessors) / sequences - 0.5);
  return 1 + std::max(0.0, group / together - 1) * (1 - l2_hits(chip, head_bytes));
}

}  // namespace llmscape::hardware
