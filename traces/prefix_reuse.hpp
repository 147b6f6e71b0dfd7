// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "traces/content.hpp"

namespace llmscape::traces {

// What an unlimited prefix cache remembers, exact to the token: a radix tree whose edges are pieces of content.
class PrefixTree {
 public:
  // A prefix that was there before: its tokens, and when a prompt that begins with all of it was last added (0 for
  // one of no tokens).
  struct Head {
    std::int64_t tokens = 0;
    double last = 0;
  };
  // The longest prefix that `prompt` shares with any prompt added before; then `prompt` is remembered too, as of `now`.
  Head add(const Prompt& prompt, double now);
  // Its tokens, where nobody asks for times.
  std::int64_t add(const Prompt& prompt) { return add(prompt, 0).tokens; }

 private:
  using Node = std::uint64_t;
  // Edges leave a node by the content and the position in it at which they begin.
  struct Start {
    Node node;
    ContentId id;
    std::int64_t offset;
    bool operator==(const Start&) const = default;
  };
  struct StartHash {
    std::size_t operator()(const Start& start) const;
  };
  struct Edge {
    std::int64_t tokens;
    Node to;
    double last;  // when a prompt that goes along it was added
  };

  std::unordered_map<Start, Edge, StartHash> edges_;
  Node last_node_ = 0;  // 0 is the root
};

// Counts the blocks that an unlimited prefix cache of whole blocks would reuse, starting empty; a block has at least 1
// token.
class PrefixReuse {
 public:
  // With `recompute_last_token` a prompt that is cached to its end still computes its last token, and with it the block
  // that holds it, because an engine needs that token's logits: at most floor((n - 1) / block_tokens) of a prompt's
  // blocks hit.
  explicit PrefixReuse(int block_tokens, bool recompute_last_token = false)
      : block_tokens_(block_tokens), recompute_last_token_(recompute_last_token) {}

  // Leading whole blocks of `prompt` that some earlier prompt had too; then `prompt` is remembered.
  std::int64_t add(const Prompt& prompt);

 private:
  PrefixTree tree_;
  std::int64_t block_tokens_;
  bool recompute_last_token_;
};

}  // namespace llmscape::traces
