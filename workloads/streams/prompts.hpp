// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <utility>

#include "traces/content.hpp"

namespace llmscape::workloads {

// Most tokens that a fixed part of a prompt may have.
inline constexpr double kLongestText = 1e8;

// Adds a text to the end of the prompt; one that continues the last segment is joined to it, an empty one adds nothing.
// A prompt built this way alone is canonical: equal contents are equal segments.
inline void append(Prompt& prompt, Segment text) {
  if (text.tokens == 0) return;
  if (!prompt.empty() && prompt.back().id == text.id && prompt.back().offset + prompt.back().tokens == text.offset)
    prompt.back().tokens += text.tokens;
  else prompt.push_back(text);
}
void append(Prompt& prompt, const Prompt& text);

// The first `tokens` tokens and the rest; all of it when it is shorter.
std::pair<Prompt, Prompt> split(const Prompt& prompt, std::int64_t tokens);

// Tokens at the head of both.
std::int64_t common_prefix(const Prompt& a, const Prompt& b);

}  // namespace llmscape::workloads
