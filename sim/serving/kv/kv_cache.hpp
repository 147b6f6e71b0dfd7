// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "sim/serving/kv/lease.hpp"
#include "sim/serving/kv/prefix_tree.hpp"
#include "traces/content.hpp"

namespace llmscape::serving {

// Hears of the blocks that come to be cached in a KV memory and of those that leave it, for a memory below it.
class KvCacheListener {
 public:
  virtual ~KvCacheListener() = default;
  // The first `blocks` blocks of the content can be found now, and the states at their end where a prefix needs them.
  virtual void on_published(const Prompt& content, std::int64_t blocks) = 0;
  // The last blocks of those that hold `path` are about to be evicted, and it can be found up to there.
  virtual void on_evicted(const Prompt& path) = 0;
};

// The paged KV memory of one replica: a pool of blocks, some held by requests, some cached for whoever comes with the
// same prefix, the rest free. INV-4: free + cached + shared + private = total at every instant.
class KvCache {
 public:
  // `state_blocks`: of the recurrent states of a sequence, kept beside the blocks that it publishes wherever a part of
  // it that was computed ends, rounded down to whole blocks (vLLM's mamba_cache_mode 'align'; SGLang, by its page):
  // only there can others go on. They stand in blocks that nobody has taken, those used the longest ago give way. 0:
  // blocks are all that a sequence needs. `beside`: places that each cached block which nobody refers to takes beside
  // its own, as what layers with a window cached with it (WindowEntries).
  KvCache(std::int64_t blocks, int block_tokens, bool prefix_caching, std::int64_t state_blocks = 0, double beside = 0);
  void set_listener(KvCacheListener* listener) { listener_ = listener; }

  [[nodiscard]] std::int64_t blocks() const { return total_; }
  [[nodiscard]] int block_tokens() const { return block_tokens_; }
  [[nodiscard]] std::int64_t blocks_for(std::int64_t tokens) const {
    return (tokens + block_tokens_ - 1) / block_tokens_;
  }
  // Blocks that can be taken now: free ones, cached ones that nobody refers to, and those with states.
  [[nodiscard]] std::int64_t available() const { return total_ - private_ - tree_.referenced_blocks(); }
  [[nodiscard]] std::int64_t free() const { return available() - cached_places() - tree_.states() * state_blocks_; }
  // Blocks that would hold something, cached or not, if `more` were taken.
  [[nodiscard]] std::int64_t occupied(std::int64_t more = 0) const {
    return total_ - std::max<std::int64_t>(0, free() - more);
  }
  [[nodiscard]] std::int64_t used() const { return private_ + tree_.referenced_blocks(); }

  // The longest cached prefix of the content in whole blocks, leaving at least one token to compute (vLLM: at most
  // floor((tokens - 1) / block_tokens)).
  [[nodiscard]] PrefixTree::Match match(const Prompt& content, std::int64_t tokens) const;
  void follow_first_blocks(PrefixTree::OnFirstBlock hear) { tree_.follow_first_blocks(std::move(hear)); }
  // Takes hold of the first `blocks` cached blocks of the content. The lease must be empty.
  void share(Lease& lease, const Prompt& content, std::int64_t blocks);
  // Takes blocks for a request; `take_for_decodes` for many at once (each lease is told when it ends, by hold()).
  // The caller has checked available().
  void take(Lease& lease, std::int64_t blocks);
  void take_for_decodes(std::int64_t blocks);
  static void hold(Lease& lease, std::int64_t blocks) { lease.private_blocks += blocks; }
  // Gives back blocks that take_for_decodes() took and no lease was told of.
  void give_back(std::int64_t blocks) { private_ -= blocks; }
  // Keeps the first `blocks` blocks of a lease and gives those behind them back. They must not be published.
  void shrink(Lease& lease, std::int64_t blocks);
  // Makes the whole blocks among the first `tokens` tokens of the content findable by others.
  void publish(Lease& lease, const Prompt& content, std::int64_t tokens);
  // Gives everything back; published blocks stay cached until they are needed.
  void release(Lease& lease);
  // Forgets what is cached and nobody holds, as if it had never been there: nobody hears of it.
  void forget();

  [[nodiscard]] std::int64_t evicted() const { return evicted_; }
  [[nodiscard]] std::int64_t eviction_work() const { return tree_.eviction_work(); }

 private:
  // What the blocks that nobody refers to take.
  [[nodiscard]] std::int64_t cached_places() const { return places_of(tree_.evictable_blocks()); }
  [[nodiscard]] std::int64_t places_of(std::int64_t cached) const {
    return beside_ == 0 ? cached : cached + static_cast<std::int64_t>(beside_ * static_cast<double>(cached));
  }
  void evict_for(std::int64_t blocks);
  void evict_places(std::int64_t places, const PrefixTree::OnEvicted& tell);
  void keep_state(PrefixNode* tip);

  std::int64_t total_;
  int block_tokens_;
  bool prefix_caching_;
  std::int64_t state_blocks_;
  double beside_;
  PrefixTree tree_;
  KvCacheListener* listener_ = nullptr;
  std::int64_t private_ = 0;
  std::int64_t evicted_ = 0;
};

}  // namespace llmscape::serving
