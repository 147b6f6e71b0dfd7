// SPDX-License-Identifier: Apache-2.0
#include "hardware/index_load.hpp"

#include "models/attention_pairs.hpp"

#include <algorithm>

namespace llmscape::hardware {

IndexLoad load_of(const models::IndexScores& s) {
  IndexLoad load;
  for (const models::PrefillChunk& chunk : s.chunks) {
    const std::int64_t context = chunk.tokens + chunk.cached;
    load.pairs += models::causal_pairs(chunk.tokens, chunk.cached);
    load.keys += static_cast<double>(context);
    load.tokens += static_cast<double>(chunk.tokens);
    load.choices += static_cast<double>(std::clamp<std::int64_t>(context - s.entries, 0, chunk.tokens));
    load.longest = std::max(load.longest, static_cast<double>(context));
  }
  if (s.sequences > 0) {
    const auto entries = static_cast<double>(s.context.sum), sequences = static_cast<double>(s.sequences);
    const auto queries = static_cast<double>(s.tokens_per_sequence);
    load.pairs += queries * entries;
    load.keys += entries;
    load.tokens += queries * sequences;
    if (entries > sequences * static_cast<double>(s.entries)) load.choices += queries * sequences;
    load.longest = std::max(load.longest, static_cast<double>(s.context.max));
  }
  return load;
}

}  // namespace llmscape::hardware
