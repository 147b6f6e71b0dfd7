// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/kv_tier.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace llmscape::serving {

KvTier::KvTier(KvTierConfig config, KvTier* below)
    : config_(std::move(config)), below_(below), tree_(config_.block_tokens, config_.state_blocks > 0),
      reads_(config_.read, config_.latency), writes_(config_.write, config_.latency) {}

// What has been written by `now` can be found and may be evicted.
void KvTier::settle(Seconds now) {
  while (!writing_.empty() && writing_.front().arrival <= now) {
    written_ = writing_.front().stamp;
    tree_.release(writing_.front().tip);
    writing_.pop_front();
  }
}

void KvTier::store(const Prompt& content, std::int64_t blocks, Seconds now) {
  settle(now);
  const std::int64_t known = tree_.match(content, blocks).blocks;
  PrefixNode* tip = tree_.acquire(content, known);  // and so the one used last
  const std::int64_t unreferenced = config_.blocks - tree_.referenced_blocks();
  const std::int64_t fresh = std::min(blocks - known, unreferenced);
  const bool states = config_.state_blocks > 0;  // of use with their states, or not at all
  if (fresh == 0 || (states && (fresh < blocks - known || fresh + config_.state_blocks > unreferenced))) {
    totals_.rejected += blocks - known;
    tree_.release(tip);
    return;
  }
  totals_.rejected += blocks - known - fresh;
  evict_for(fresh + config_.state_blocks, now);
  const PrefixTree::Published stored = tree_.publish(tip, content, known, known + fresh, ++stamp_);
  const std::int64_t written = stored.blocks - known - stored.known;
  totals_.blocks_written += written;
  Bytes bytes = static_cast<double>(written) * config_.block_bytes;
  if (states && stored.blocks == blocks) {
    tree_.keep_state(stored.tip);
    ++totals_.states_written;
    bytes += config_.state_bytes;
  }
  totals_.peak_blocks = std::max(totals_.peak_blocks, occupied());
  writing_.push_back({writes_.send(bytes, now), stamp_, stored.tip});
}

void KvTier::evict_for(std::int64_t blocks, Seconds now) {
  PrefixTree::OnEvicted down;
  if (below_)
    down = [this, now](const Prompt& path) { below_->store(path, tokens_of(path) / config_.block_tokens, now); };
  const auto free = [this] { return config_.blocks - occupied(); };
  while (blocks > free()) {
    if (tree_.evictable_blocks() > 0) totals_.evicted += tree_.evict(blocks - free(), down);
    else tree_.drop_state();
  }
}

std::int64_t KvTier::match(const Prompt& content, std::int64_t limit, Seconds now) {
  settle(now);
  return tree_.match(content, limit, written_).blocks;
}

Seconds KvTier::read_time(std::int64_t blocks, Seconds now, const Channel& links) const {
  const Bytes bytes = static_cast<double>(blocks) * config_.block_bytes + config_.state_bytes;
  return reads_.arrival(bytes, now, links) - now;
}

KvPrefixes::Read KvTier::read(const Prompt& content, std::int64_t from, std::int64_t to, Seconds now, Channel& links) {
  totals_.blocks_read += to - from;
  if (config_.state_blocks > 0) ++totals_.states_read;
  const Bytes bytes = static_cast<double>(to - from) * config_.block_bytes + config_.state_bytes;
  return {tree_.acquire(content, to), reads_.send(bytes, now, links)};
}

void KvTier::forget() {
  for (const Write& write : writing_) tree_.release(write.tip);
  writing_.clear();
  written_ = stamp_;
  while (tree_.evictable_blocks() > 0) totals_.forgotten += tree_.evict(tree_.evictable_blocks());
  while (tree_.states() > 0) tree_.drop_state();
}

void KvTier::check_invariants(bool) const {
  if (occupied() > config_.blocks)
    throw std::logic_error("INV-16: KV tier '" + config_.name + "' holds " + std::to_string(occupied()) +
                           " blocks of " + std::to_string(config_.blocks));
  if (totals_.blocks_written != held() + totals_.evicted + totals_.forgotten)
    throw std::logic_error("INV-16: blocks of KV tier '" + config_.name + "' do not add up: written " +
                           std::to_string(totals_.blocks_written) + ", held " + std::to_string(held()) + ", evicted " +
                           std::to_string(totals_.evicted) + ", forgotten " + std::to_string(totals_.forgotten));
}

}  // namespace llmscape::serving
