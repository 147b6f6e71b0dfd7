// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/kv_cache.hpp"

#include <algorithm>
#include <stdexcept>

namespace llmscape::serving {

KvCache::KvCache(std::int64_t blocks, int block_tokens, bool prefix_caching, std::int64_t state_blocks, double beside)
    : total_(blocks), block_tokens_(block_tokens), prefix_caching_(prefix_caching), state_blocks_(state_blocks),
      beside_(beside), tree_(block_tokens, state_blocks > 0) {}

PrefixTree::Match KvCache::match(const Prompt& content, std::int64_t tokens) const {
  if (!prefix_caching_) return {};
  return tree_.match(content, (tokens - 1) / block_tokens_);
}

void KvCache::share(Lease& lease, const Prompt& content, std::int64_t blocks) {
  if (blocks == 0) return;
  lease.tip = tree_.acquire(content, blocks);
  lease.published_blocks = blocks;
}

void KvCache::evict_for(std::int64_t blocks) {
  if (blocks <= free()) return;
  if (blocks > available()) throw std::logic_error("INV-4: more KV blocks taken than the pool has");
  PrefixTree::OnEvicted tell;
  if (listener_) tell = [this](const Prompt& path) { listener_->on_evicted(path); };
  while (blocks > free()) {
    if (tree_.evictable_blocks() > 0) evict_places(blocks - free(), tell);
    else tree_.drop_state();
  }
}

// Of cached blocks that nobody refers to, as few as take at least so many places: what is evicted then does not depend
// on whether places are taken together or one by one.
void KvCache::evict_places(std::int64_t places, const PrefixTree::OnEvicted& tell) {
  std::int64_t blocks = places;
  if (beside_ > 0) {
    const std::int64_t cached = tree_.evictable_blocks(), most = places_of(cached) - places;
    std::int64_t left = std::max<std::int64_t>(0, static_cast<std::int64_t>(static_cast<double>(most) / (1 + beside_)));
    while (left < cached && places_of(left + 1) <= most) ++left;
    while (left > 0 && places_of(left) > most) --left;
    blocks = cached - left;
  }
  evicted_ += tree_.evict(blocks, tell);
}

// In the place of what nobody holds, or of older states.
void KvCache::keep_state(PrefixNode* tip) {
  if (tip->state == 0) {
    if (available() < state_blocks_) return;
    evict_for(state_blocks_);
  }
  tree_.keep_state(tip);
}

void KvCache::take(Lease& lease, std::int64_t blocks) {
  take_for_decodes(blocks);
  lease.private_blocks += blocks;
}

void KvCache::take_for_decodes(std::int64_t blocks) {
  if (blocks == 0) return;
  evict_for(blocks);
  private_ += blocks;
}

void KvCache::publish(Lease& lease, const Prompt& content, std::int64_t tokens) {
  const std::int64_t whole = tokens / block_tokens_;
  if (!prefix_caching_ || whole <= lease.published_blocks) return;
  const PrefixTree::Published now = tree_.publish(lease.tip, content, lease.published_blocks, whole);
  // Blocks that were known are now shared and our own copies freed; the others passed from private to shared.
  const std::int64_t moved = now.blocks - lease.published_blocks;
  lease.tip = now.tip;
  lease.published_blocks = now.blocks;
  lease.private_blocks -= moved;
  private_ -= moved;
  if (state_blocks_ > 0 && now.blocks == whole) keep_state(lease.tip);
  if (listener_ && moved > 0 && (state_blocks_ == 0 || lease.tip->state > 0))
    listener_->on_published(content, lease.published_blocks);
}

void KvCache::shrink(Lease& lease, std::int64_t blocks) {
  const std::int64_t back = lease.blocks() - blocks;
  if (back <= 0) return;
  if (back > lease.private_blocks) throw std::logic_error("INV-4: published KV blocks cannot be given back alone");
  lease.private_blocks -= back;
  private_ -= back;
}

void KvCache::release(Lease& lease) {
  private_ -= lease.private_blocks;
  tree_.release(lease.tip);
  lease = Lease{};
  // What was evicted of its windows while it ran has come back with it: others are evicted for that.
  while (beside_ > 0 && free() < 0) evict_places(-free(), {});
}

void KvCache::forget() {
  while (tree_.evictable_blocks() > 0) tree_.evict(tree_.evictable_blocks());
  while (tree_.states() > 0) tree_.drop_state();
}

}  // namespace llmscape::serving
