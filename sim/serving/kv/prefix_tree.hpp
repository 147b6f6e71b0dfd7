// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "base/pointer_table.hpp"
#include "traces/content.hpp"

namespace llmscape::serving {

// A run of whole blocks with known content: an edge of the radix tree. All its blocks are referenced by the same
// requests and were released together, so one node stands for all of them.
struct PrefixNode {
  PrefixNode* parent = nullptr;
  std::uint64_t id = 0;           // never reused
  std::uint64_t first_block = 0;  // hash of the content of its first block: its key below the parent
  std::vector<Segment> content;   // blocks x block_tokens tokens
  std::int64_t blocks = 0;
  std::int64_t references = 0;  // requests whose path includes it
  std::int64_t children = 0;
  std::uint64_t stamp = 0;      // of the publication that brought its blocks
  std::int64_t begun = 0;       // sequences that share what lies before its end (WindowEntries): it is not extended
  std::uint64_t state = 0;      // of the recurrent states kept at its end, by time of use; 0: none
  PrefixNode* older = nullptr;  // list of unreferenced nodes, by time of release
  PrefixNode* newer = nullptr;
};

// Which blocks hold which content. Hits, moves and evictions cost O(nodes on the path) and not O(blocks). Blocks that
// no request refers to stay until they are needed: they are evicted in the order in which they were released, the tail
// of a request before its head (vLLM's free list), so a leaf always goes before its parent.
class PrefixTree {
 public:
  // `states`: blocks are of use up to where a sequence's recurrent states were kept, and no further.
  explicit PrefixTree(int block_tokens, bool states = false);

  struct Match {
    std::int64_t blocks = 0;
    std::int64_t unreferenced_blocks = 0;  // of them, those that nobody holds at present
    const PrefixNode* tip = nullptr;       // that ends where the prefix does; none: it ends within one
  };
  // The longest known prefix of the content, in whole blocks, at most `limit` blocks, as publications up to `newest`
  // brought it. Changes nothing.
  [[nodiscard]] Match match(const Prompt& content, std::int64_t limit,
                            std::uint64_t newest = std::numeric_limits<std::uint64_t>::max()) const;

  // Takes a reference on the first `blocks` blocks of the content (as match() found them); returns the end of the path.
  PrefixNode* acquire(const Prompt& content, std::int64_t blocks);

  struct Published {
    PrefixNode* tip = nullptr;  // where the caller's path ends now
    std::int64_t blocks = 0;    // length of the path
    std::int64_t known = 0;  // of the blocks just published, those that were known already: the caller shares them from
                             // now on and gives its own back
  };
  // Makes blocks [from, to) of the content known, below `tip` (the caller holds a path of `from` blocks that ends
  // there). Stops early only where another content has the same hash. New blocks bear the stamp; stamps never fall.
  Published publish(PrefixNode* tip, const Prompt& content, std::int64_t from, std::int64_t to,
                    std::uint64_t stamp = 0);

  // Gives the path's references back; what nobody else holds becomes evictable.
  void release(PrefixNode* tip);

  // Hears the content of a path whose last blocks are about to be forgotten, where it can be found up to there.
  using OnEvicted = std::function<void(const Prompt& path)>;
  // Forgets up to `blocks` evictable blocks, the longest released first; returns how many. Ends early behind a block at
  // whose end states were kept: they go with it, and fewer blocks may do then.
  std::int64_t evict(std::int64_t blocks, const OnEvicted& hear = {});

  // The states of a sequence that has computed what ends in `tip` are kept there, until those blocks are forgotten.
  void keep_state(PrefixNode* tip);
  // Forgets the states that were kept or taken hold of the longest ago. There must be some.
  void drop_state() { forget_state(states_by_use_.begin()->second); }
  [[nodiscard]] std::int64_t states() const { return static_cast<std::int64_t>(states_by_use_.size()); }

  // Hears which first blocks of prompts are known, by hash: at once of those that are, then of each that comes or goes.
  using OnFirstBlock = std::function<void(std::uint64_t hash, bool known)>;
  void follow_first_blocks(OnFirstBlock hear);
  [[nodiscard]] static std::uint64_t first_block_of(const Prompt& content, int block_tokens);

  [[nodiscard]] std::int64_t referenced_blocks() const { return referenced_; }
  [[nodiscard]] std::int64_t evictable_blocks() const { return evictable_; }
  // Turns of evict(), and segments that it put together for who hears: must not grow with the blocks (test).
  [[nodiscard]] std::int64_t eviction_work() const { return eviction_work_; }

 private:
  struct Cursor;
  PrefixNode* child(const PrefixNode* parent, std::uint64_t first_block) const;
  PrefixNode* add(PrefixNode* parent, std::uint64_t first_block);
  void remove(PrefixNode* leaf);
  void split(PrefixNode* node, std::int64_t blocks);
  void reference(PrefixNode* node);
  void unlink(PrefixNode* node);
  void forget_state(PrefixNode* node);
  [[nodiscard]] Prompt path_to(const PrefixNode* node) const;
  [[nodiscard]] static std::uint64_t key(const PrefixNode* parent, std::uint64_t first_block);

  std::int64_t block_tokens_;
  bool with_states_;
  std::map<std::uint64_t, PrefixNode*> states_by_use_;
  std::uint64_t uses_ = 0;
  PrefixNode root_;
  std::deque<PrefixNode> nodes_;
  std::vector<PrefixNode*> spare_;
  PointerTable<PrefixNode> children_;  // by key(parent, first block)
  PrefixNode* oldest_ = nullptr;
  PrefixNode* newest_ = nullptr;
  std::uint64_t next_id_ = 1;
  std::int64_t referenced_ = 0;
  std::int64_t evictable_ = 0;
  std::int64_t eviction_work_ = 0;
  std::vector<OnFirstBlock> first_blocks_;  // who hears of them
};

}  // namespace llmscape::serving
