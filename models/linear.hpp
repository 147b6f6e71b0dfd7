// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace llmscape::models {

// A linear layer k -> n.
struct Linear {
  std::int64_t k = 0, n = 0;
  bool bias = false;
  [[nodiscard]] std::int64_t parameters() const { return k * n + (bias ? n : 0); }
};

}  // namespace llmscape::models
