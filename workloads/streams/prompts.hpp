// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "traces/content.hpp"

namespace llmscape::workloads {

// Most tokens that a fixed part of a prompt may have.
inline constexpr double kLongestText = 1e8;

// Adds a text to the end of the prompt; an empty one adds nothing.
inline void append(Prompt& prompt, ContentId id, std::int64_t tokens) {
  if (tokens > 0) prompt.push_back({id, tokens});
}

}  // namespace llmscape::workloads
