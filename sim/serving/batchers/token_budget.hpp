// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "sim/serving/batcher.hpp"

namespace llmscape::serving {

// What batchers of vLLM's kind have in common: most sequences at once, and most tokens in a step.
struct TokenBudget : BatcherPolicy {
  std::int64_t max_num_seqs = 256;
  std::int64_t max_num_batched_tokens = 8192;

  [[nodiscard]] std::int64_t max_sequences() const override { return max_num_seqs; }
  [[nodiscard]] std::int64_t max_tokens() const override { return max_num_batched_tokens; }
};

template <class T>
void add_token_budget(Fields<T>& f, std::string text_of_tokens = "token budget of one step") {
  f.add("max_num_seqs", &T::max_num_seqs, "most sequences that run at once").between(1, 65536);
  f.add("max_num_batched_tokens", &T::max_num_batched_tokens, std::move(text_of_tokens)).between(1, 1 << 24);
}

// For batchers whose decodes share the budget with prompts: every sequence must be able to take a token.
template <class T>
void check_token_budget(Fields<T>& f) {
  f.check([](const T& c, const YamlNode& node, Diagnostics& d) {
    if (c.max_num_batched_tokens < c.max_num_seqs)
      d.error(node.where, "'max_num_batched_tokens' (" + std::to_string(c.max_num_batched_tokens) +
                              ") must not be below 'max_num_seqs' (" + std::to_string(c.max_num_seqs) + ")");
  });
}

}  // namespace llmscape::serving
