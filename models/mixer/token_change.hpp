// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "models/mixer/sequence_state.hpp"

namespace llmscape::models {

// Of a prompt's tokens, those that pass a layer. Of none: all of them.
struct PassingTokens {
  double share = 0;       // of them, rounded up; 0: no such limit
  std::int64_t most = 0;  // 0: no such limit
  bool operator==(const PassingTokens&) const = default;

  [[nodiscard]] bool limits() const { return share > 0 || most > 0; }
  // Of a prompt of so many tokens.
  [[nodiscard]] std::int64_t of(std::int64_t prompt) const {
    std::int64_t passing = prompt;
    if (share > 0)
      passing = std::min(passing, static_cast<std::int64_t>(std::ceil(share * static_cast<double>(prompt))));
    if (most > 0) passing = std::min(passing, most);
    return passing;
  }
};

// What a token plan changes of a layer: as it stands here, nothing. The first part is about what the layer keeps of a
// sequence and becomes part of its SequenceState, the second about the work of its tokens.
struct TokenChange {
  KvBudget budget{};
  std::optional<std::int64_t> reach{};  // most entries that a decode attends to, its own included; 0: all
  bool keeps_all = false;               // the entries beyond that reach stay: the kernel masks them
  int caches_shared_by = 1;             // neighbouring layers that keep one cache between them

  std::optional<std::int64_t> prompt_reach{};  // most entries that a prompt token attends to; 0: all
  // A kernel that skips what prompt tokens do not attend to, as devices name it; empty: a dense one.
  std::string prompt_kernel{};
  // The last queries of a chunk that are scored against all keys, to find what is attended to or kept: at each chunk
  // with a kernel of its own or a budget for each chunk, else at the end of the prompt.
  std::int64_t scored_queries = 0;
  // Of a prompt's tokens only the last passes the layer; the others leave their keys and values.
  bool passed_by_last_only = false;
  // Those of a prompt's tokens that pass the layer, chosen when the whole prompt has passed the layers before it.
  PassingTokens passing{};
  bool operator==(const TokenChange&) const = default;

  [[nodiscard]] bool none() const { return *this == TokenChange(); }
  // It changes which entries are kept and attended to, and nothing else.
  [[nodiscard]] bool of_entries_only() const {
    return caches_shared_by == 1 && !passed_by_last_only && !passing.limits() &&
           (!prompt_reach || prompt_reach == reach);
  }
  // Entries before a chunk that its tokens find in the cache, of `cached` that were computed.
  [[nodiscard]] std::int64_t cached(std::int64_t computed) const {
    return budget.each_chunk ? budget.kept(computed) : computed;
  }
  [[nodiscard]] bool scores_each_chunk() const { return !prompt_kernel.empty() || budget.each_chunk; }
};

}  // namespace llmscape::models
