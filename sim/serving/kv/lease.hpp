// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

#include "base/quantity.hpp"

namespace llmscape::serving {

inline constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

struct PrefixNode;

// The KV blocks that one sequence holds: a path of shared, published blocks that ends in `tip`, and blocks of its own.
struct Lease {
  PrefixNode* tip = nullptr;
  std::int64_t published_blocks = 0;  // on the path from the root to the tip
  std::int64_t private_blocks = 0;
  [[nodiscard]] std::int64_t blocks() const { return published_blocks + private_blocks; }
};

}  // namespace llmscape::serving
