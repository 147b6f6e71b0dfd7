// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/prefix_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <map>
#include <vector>

#include "base/random.hpp"

using namespace llmscape;
using namespace llmscape::serving;

namespace {

constexpr int kBlock = 4;

using Block =
    std::vector<std::pair<ContentId, std::int64_t>>;  // the tokens of a whole prefix, up to the end of a block

// What vLLM does, block by block: a hash for each prefix that ends with a block, a list of free blocks by time of
// release.
class BlockByBlock {
 public:
  static Block prefix(const Prompt& prompt, std::int64_t blocks) {
    Block tokens;
    for (const Segment& s : prompt)
      for (std::int64_t i = 0; i < s.tokens; ++i) tokens.emplace_back(s.id, s.offset + i);
    tokens.resize(static_cast<std::size_t>(blocks * kBlock));
    return tokens;
  }
  std::int64_t match(const Prompt& prompt, std::int64_t limit) const {
    std::int64_t blocks = 0;
    while (blocks < limit && known_.count(prefix(prompt, blocks + 1))) ++blocks;
    return blocks;
  }
  void hold(const Prompt& prompt, std::int64_t blocks) {
    for (std::int64_t b = 1; b <= blocks; ++b) {
      const Block key = prefix(prompt, b);
      if (known_[key]++ == 0) released_.remove(key);
    }
  }
  void release(const Prompt& prompt, std::int64_t blocks) {
    for (std::int64_t b = blocks; b >= 1; --b) {
      const Block key = prefix(prompt, b);
      if (--known_[key] == 0) released_.push_back(key);
    }
  }
  void evict(std::int64_t blocks) {
    for (; blocks > 0 && !released_.empty(); --blocks) {
      known_.erase(released_.front());
      released_.pop_front();
    }
  }
  std::int64_t evictable() const { return static_cast<std::int64_t>(released_.size()); }

 private:
  std::map<Block, int> known_;  // references
  std::list<Block> released_;
};

}  // namespace

TEST_CASE("a prompt is found as far as it has the same tokens, in whole blocks") {
  PrefixTree tree(kBlock);
  PrefixNode* tip = tree.publish(nullptr, {{1, 10}, {2, 6}}, 0, 4).tip;
  CHECK(tree.match({{1, 10}, {2, 6}}, 4).blocks == 4);
  CHECK(tree.match({{1, 10}, {2, 6}}, 3).blocks == 3);
  CHECK(tree.match({{1, 10}, {3, 6}}, 4).blocks == 2);            // differs from token 10 on: blocks 0-1 are whole
  CHECK(tree.match({{1, 4}, {1, 6, 4}, {2, 6}}, 4).blocks == 4);  // the same tokens, cut otherwise
  CHECK(tree.match({{9, 16}}, 4).blocks == 0);
  CHECK(tree.match({{1, 10}, {2, 6}}, 4).unreferenced_blocks == 0);
  tree.release(tip);
  CHECK(tree.match({{1, 10}, {2, 6}}, 4).unreferenced_blocks == 4);
}

TEST_CASE("eviction takes the tail of the request released first, and shared heads last") {
  PrefixTree tree(kBlock);
  PrefixNode* first = tree.publish(nullptr, {{1, 8}, {2, 8}}, 0, 4).tip;
  PrefixNode* second = tree.publish(tree.acquire({{1, 8}, {3, 8}}, 2), {{1, 8}, {3, 8}}, 2, 4).tip;
  tree.release(first);
  tree.release(second);
  CHECK(tree.evictable_blocks() == 6);
  CHECK(tree.evict(1) == 1);
  CHECK(tree.match({{1, 8}, {2, 8}}, 4).blocks == 3);
  CHECK(tree.evict(2) == 2);  // the rest of the first tail, then the tail of the second
  CHECK(tree.match({{1, 8}, {2, 8}}, 4).blocks == 2);
  CHECK(tree.match({{1, 8}, {3, 8}}, 4).blocks == 3);
  CHECK(tree.evict(100) == 3);
  CHECK(tree.match({{1, 8}, {3, 8}}, 4).blocks == 0);
}

TEST_CASE("content that another request has published meanwhile is shared, not stored twice") {
  PrefixTree tree(kBlock);
  tree.publish(nullptr, {{1, 16}}, 0, 4);
  const auto again = tree.publish(nullptr, {{1, 16}, {2, 8}}, 0, 6);
  CHECK(again.known == 4);
  CHECK(again.blocks == 6);
  CHECK(tree.referenced_blocks() == 6);
}

TEST_CASE("extents hit and evict exactly as single blocks in vLLM's lists do") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed);
    PrefixTree tree(kBlock);
    BlockByBlock blocks;
    struct Holder {
      Prompt prompt;
      PrefixNode* tip;
      std::int64_t held;
    };
    std::vector<Holder> holders;
    for (int round = 0; round < 300; ++round) {
      const double action = random.uniform();
      if (action < 0.5) {
        Prompt prompt;
        for (int s = 0; s < 3; ++s)
          prompt.push_back({random.below(3) + static_cast<std::uint64_t>(10 * s), random.integer(1, 9)});
        const std::int64_t whole = tokens_of(prompt) / kBlock;
        const std::int64_t hit = tree.match(prompt, whole).blocks;
        REQUIRE(hit == blocks.match(prompt, whole));
        PrefixNode* tip = tree.acquire(prompt, hit);
        const auto published = tree.publish(tip, prompt, hit, whole);
        REQUIRE(published.blocks == whole);
        blocks.hold(prompt, whole);
        holders.push_back({prompt, published.tip, whole});
      } else if (action < 0.85 && !holders.empty()) {
        const std::size_t i = random.below(holders.size());
        tree.release(holders[i].tip);
        blocks.release(holders[i].prompt, holders[i].held);
        holders.erase(holders.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        const std::int64_t some = random.integer(1, 4);
        tree.evict(some);
        blocks.evict(some);
      }
      REQUIRE(tree.evictable_blocks() == blocks.evictable());
    }
  }
}

TEST_CASE("where states are kept, a block at whose end they stand goes alone and is heard of, the others go at once") {
  PrefixTree tree(1, true);
  PrefixNode* tip = tree.publish(nullptr, {{1, 100}}, 0, 100).tip;
  tree.keep_state(tip);
  tree.release(tip);
  std::vector<Prompt> heard;
  const auto hear = [&](const Prompt& path) { heard.push_back(path); };
  CHECK(tree.evict(60, hear) == 1);
  CHECK(tree.states() == 0);
  CHECK(tree.evict(59, hear) == 59);
  REQUIRE(heard.size() == 1);
  CHECK(tokens_of(heard[0]) == 100);
  CHECK(tree.eviction_work() == 3);  // two turns, one path of one segment
  CHECK(tree.evict(100, hear) == 40);
}
