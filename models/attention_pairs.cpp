// SPDX-License-Identifier: Apache-2.0
#include "models/attention_pairs.hpp"

#include <algorithm>

namespace llmscape::models {

double causal_pairs(std::int64_t tokens, std::int64_t cached) {
  const double n = static_cast<double>(tokens);
  return n * static_cast<double>(cached) + n * (n + 1) / 2;
}

double windowed_pairs(std::int64_t tokens, std::int64_t cached, std::int64_t window) {
  if (window == 0) return causal_pairs(tokens, cached);
  // The first tokens still see everything before them; all later ones see a whole window.
  const std::int64_t growing = std::clamp<std::int64_t>(window - cached, 0, tokens);
  return causal_pairs(growing, cached) + static_cast<double>(tokens - growing) * static_cast<double>(window);
}

double decode_pairs(std::int64_t tokens, std::int64_t context) { return causal_pairs(tokens, context - tokens); }

std::int64_t keys_read(std::int64_t tokens, std::int64_t cached, std::int64_t window) {
  const std::int64_t all = tokens + cached;
  return window == 0 ? all : std::min(all, window + tokens - 1);
}

double estimated_pairs(std::int64_t tokens, std::int64_t cached, std::int64_t queries) {
  return static_cast<double>(std::min(tokens, queries)) * static_cast<double>(tokens + cached);
}

}  // namespace llmscape::models
