// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace llmscape {

// Content identity, exact and cheap: token j of content `id` is the same token wherever it occurs. Two prompts share a
// prefix exactly as far as their segments name the same (id, position).
using ContentId = std::uint64_t;

struct Segment {
  ContentId id = 0;
  std::int64_t tokens = 0;  // the first `tokens` tokens of the content, at least 1 ...
  std::int64_t offset = 0;  // ... counted from here (0 almost always)
  bool operator==(const Segment&) const = default;
};

using Prompt = std::vector<Segment>;

inline std::int64_t tokens_of(const Prompt& prompt) {
  std::int64_t sum = 0;
  for (const Segment& s : prompt) sum += s.tokens;
  return sum;
}

}  // namespace llmscape
