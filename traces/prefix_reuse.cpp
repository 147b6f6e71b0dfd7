// SPDX-License-Identifier: Apache-2.0
#include "traces/prefix_reuse.hpp"

#include <algorithm>

namespace llmscape::traces {

std::size_t PrefixTree::StartHash::operator()(const Start& start) const {
  // Mixes three words by the finaliser of MurmurHash3.
  std::uint64_t hash = 0;
  for (const std::uint64_t word : {start.node, start.id, static_cast<std::uint64_t>(start.offset)}) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 33;
  }
  return hash;
}

PrefixTree::Head PrefixTree::add(const Prompt& prompt, double now) {
  Head shared;
  Node node = 0;
  for (Segment rest : prompt) {
    while (rest.tokens > 0) {
      const auto [at, is_new] =
          edges_.try_emplace({node, rest.id, rest.offset}, Edge{rest.tokens, last_node_ + 1, now});
      Edge& edge = at->second;
      const std::int64_t taken = std::min(edge.tokens, rest.tokens);
      if (is_new) {
        ++last_node_;  // from a new node on, everything is new
      } else {
        shared = {shared.tokens + taken, edge.last};
      }
      if (taken < edge.tokens) {  // the prompt leaves, or ends, inside the edge: split it there
        const Edge tail = {edge.tokens - taken, edge.to, edge.last};
        edge = {taken, ++last_node_, now};
        const Node middle = edge.to;
        edges_.emplace(Start{middle, rest.id, rest.offset + taken}, tail);  // `edge` may dangle from here
        node = middle;
      } else {
        edge.last = now;
        node = edge.to;
      }
      rest.offset += taken;
      rest.tokens -= taken;
    }
  }
  return shared;
}

std::int64_t PrefixReuse::add(const Prompt& prompt) {
  const std::int64_t usable = tokens_of(prompt) - (recompute_last_token_ ? 1 : 0);
  return std::min(tree_.add(prompt), usable) / block_tokens_;
}

}  // namespace llmscape::traces
