// SPDX-License-Identifier: Apache-2.0
#include "workloads/streams/prompts.hpp"

#include <algorithm>

namespace llmscape::workloads {

void append(Prompt& prompt, const Prompt& text) {
  for (const Segment& segment : text) append(prompt, segment);
}

std::pair<Prompt, Prompt> split(const Prompt& prompt, std::int64_t tokens) {
  std::pair<Prompt, Prompt> parts;
  for (const Segment& segment : prompt) {
    const std::int64_t head = std::clamp<std::int64_t>(tokens, 0, segment.tokens);
    append(parts.first, {segment.id, head, segment.offset});
    append(parts.second, {segment.id, segment.tokens - head, segment.offset + head});
    tokens -= head;
  }
  return parts;
}

std::int64_t common_prefix(const Prompt& a, const Prompt& b) {
  std::int64_t common = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].id != b[i].id || a[i].offset != b[i].offset) break;
    common += std::min(a[i].tokens, b[i].tokens);
    if (a[i].tokens != b[i].tokens) break;
  }
  return common;
}

}  // namespace llmscape::workloads
