// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/pool_budget.hpp"
#include "sim/serving/kv/kv_cache.hpp"
#include "sim/serving/kv/kv_store.hpp"
#include "sim/serving/replica/decode_set.hpp"
#include "sim/serving/replica/kv_import.hpp"
#include "sim/serving/replica/kv_offload.hpp"
#include "sim/serving/replica/window_entries.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::serving {

// What becomes of the KV entries of a sequence that is preempted.
enum class Preempted : std::uint8_t {
  recompute,  // they are lost, but for what is cached
  swap,       // they go to the store for that, as far as it has blocks
  by_cost     // the cheaper of both
};

struct KvMemoryConfig {
  std::int64_t blocks = 0;  // of the pool; those of a store that spills included
  int block_tokens = 16;
  bool prefix_caching = false;
  models::Sharing sharing = models::Sharing::any_block;  // what prefix caching keeps
  // Decoding sequences take blocks as they grow; false: each reserves its whole length when it is admitted (reserve()).
  bool grows = true;
  // Entries that stay of a prompt; the blocks of the others are free from then on. Needs a pool without prefixes, and
  // sequences that grow.
  models::PoolBudget budget{};
  std::int64_t largest_chunk = 0;       // tokens of a prompt in one step: what a budget for each chunk adds to itself
  std::vector<WindowLayers> windows{};  // one entry for each window, where layers without one stand beside them
  std::vector<WindowPool> window_pools{};  // or these
  KvBelow below{};
  std::int64_t max_sequences = 0;  // of the batcher: a slot for those that wait for a fetch
  // Of computing tokens [cached, tokens) of a prompt, alone: what copies are weighed against.
  std::function<Seconds(std::int64_t cached, std::int64_t tokens)> prefill_time{};
};

// The KV memory of one engine: the pool of blocks on its devices, the stores below it, one policy each for what spills,
// what preemptions keep, and what is written and fetched of prefixes, and what each sequence holds. Batchers ask it
// what fits; EngineState tells it what sequences do. Who calls checks that what is taken is there.
class KvMemory {
 public:
  // Throws std::logic_error where two stores spill, or two hold what is preempted.
  explicit KvMemory(KvMemoryConfig config);
  KvMemory(const KvMemory&) = delete;
  KvMemory& operator=(const KvMemory&) = delete;

  KvCache pool;
  KvOffload offload;  // prefixes below the pool

  [[nodiscard]] const std::vector<std::shared_ptr<KvStore>>& stores() const { return config_.below.stores; }
  // Where blocks in use are that the devices do not hold; nullptr: all are there.
  [[nodiscard]] KvSpill* spill() const { return spill_; }
  // Where preempted sequences may go; nullptr: what they have computed is lost.
  [[nodiscard]] KvPreemption* preemption() const { return preemption_; }
  [[nodiscard]] Seconds prefill_time(std::int64_t cached, std::int64_t tokens) const {
    return config_.prefill_time(cached, tokens);
  }
  // Of computing the first `tokens` tokens of a prompt. prefill_time() is asked for some lengths and taken as linear
  // between them (Stream2LLM, arXiv 2604.16395, profiles it so).
  [[nodiscard]] Seconds recompute_time(std::int64_t tokens);

  // The sequence's content so far, answer included; until the next call.
  [[nodiscard]] const Prompt& content(const Request& request) const;
  // Its longest cached prefix.
  [[nodiscard]] PrefixTree::Match match(const Request& request) const {
    return pool.match(content(request), request.tokens_to_compute());
  }
  // The most entries that a sequence of that length will ever hold.
  [[nodiscard]] std::int64_t most_entries(std::int64_t prompt, std::int64_t output) const;
  // The most blocks that computing `tokens` tokens of a prompt holds at once.
  [[nodiscard]] std::int64_t blocks_of_prompt(std::int64_t tokens) const {
    return pool.blocks_for(config_.budget.each_chunk() ? most_entries(tokens, 0) : tokens);
  }
  // KV blocks that the next `tokens` tokens of the request need beyond those it holds.
  [[nodiscard]] std::int64_t blocks_for_chunk(const Request& request, std::int64_t tokens) const;
  // KV blocks that the request holds for layers with a window while it runs, beside those of its tokens: none where all
  // layers are alike. Whoever admits it, behind that cached prefix, checks that they fit too.
  [[nodiscard]] std::int64_t window_blocks(const Request& request, const PrefixTree::Match& hit = {}) const {
    return windows_.blocks(request, hit);
  }
  // The pools of layers with a window have room for it beside what runs; always where nothing does.
  [[nodiscard]] bool window_pools_fit(const Request& request) const {
    return !windows_.any_pools() || windows_.pools_fit(request, match(request));
  }
  // KV blocks that the decode step `ahead` steps from now takes; below zero: gives back.
  [[nodiscard]] std::int64_t blocks_for_decodes(const DecodeSet& decoding, std::int64_t ahead = 0) const {
    return config_.grows ? decoding.blocks_needed(ahead) : 0;
  }

  // The same of all of the next `steps` together, in which nothing but the contexts changes.
  [[nodiscard]] std::int64_t blocks_for_even(const DecodeSet& decoding, std::int64_t steps) const {
    return config_.grows ? decoding.blocks_of(steps) : 0;
  }

  // Tokens of a sequence that need not be computed, as their entries were found.
  struct Reuse {
    std::int64_t tokens = 0;
    std::int64_t fetched = 0;  // of them, from a tier below HBM and for this sequence
  };
  // It starts to run behind its cached prefix of `hit_blocks` blocks.
  Reuse begin(Request& request, std::int64_t hit_blocks);
  // It keeps blocks for `tokens` tokens, whatever it needs at present.
  void reserve(Request& request, std::int64_t tokens);
  // Its next `tokens` tokens are computed.
  void extend(Request& request, std::int64_t tokens);
  // Its prompt is computed: what its budget does not keep is free.
  void end_prompt(Request& request);
  // All that decode take the blocks of their next step; one that has left learns which of them are its own.
  void grow(const DecodeSet& decoding);
  void settle(Request& request);
  // Of its entries, in HBM or swapped out, the first `tokens` stay. Returns how many those behind them were.
  std::int64_t truncate(Request& request, std::int64_t tokens);

  // Whether swap_out() may keep what a running sequence has computed, and that, `if_faster`, takes less time than to
  // compute it again.
  [[nodiscard]] bool may_swap_out(const Request& request, bool if_faster, Seconds now);
  // What it has computed is copied to the store for that, one token left to compute if that was all: the next answer
  // comes of it. release() follows. And back: it runs when its entries are here, at its `kv_ready`.
  void swap_out(Request& request, Seconds now);
  [[nodiscard]] std::int64_t blocks_swapped(const Request& request) const {
    return pool.blocks_for(request.sequence.swapped - request.sequence.dropped);
  }
  void swap_in(Request& request, Seconds now);

  // Whole blocks of its content become findable by others.
  void publish(Request& request);
  // It gives back all that it holds; what is published stays cached.
  void release(Request& request);
  // The same, but for the blocks of its tokens: another replica reads them, until pool.release().
  [[nodiscard]] Lease lend(Request& request);

  // Takes blocks for a sequence whose prompt is computed elsewhere, behind what of it is cached here. False if they do
  // not fit now. Then the sequence has come, and they are its own.
  bool reserve(KvImport& import);
  void adopt(Request& request, KvImport& import);

  // The engine is lost, and no sequence holds anything: nothing is cached or swapped out any more.
  void forget();
  // The next time at which a copy is done that sequences wait for; kNever if none is under way.
  [[nodiscard]] Seconds next_arrival() const {
    const Seconds fetched = offload.next_arrival();
    return preemption_ ? std::min(fetched, preemption_->next_arrival()) : fetched;
  }

 private:
  // Of its entries those stay that the budget keeps of the `computed` tokens.
  void cut(Request& request, std::int64_t computed);
  // Of `entries` of a sequence that decodes, those that are not written over.
  [[nodiscard]] std::int64_t in_ring(std::int64_t entries) const;
  // Those of its first `computed` tokens that a copy takes along.
  [[nodiscard]] std::int64_t entries_to_swap(const Request& request, std::int64_t computed) const;
  // Those that it has when its next chunk begins.
  [[nodiscard]] std::int64_t entries_of_prompt(const Request& request) const;

  KvMemoryConfig config_;
  WindowEntries windows_;
  KvSpill* spill_ = nullptr;
  KvPreemption* preemption_ = nullptr;
  std::vector<Seconds> profile_;  // of prefill_time() for 0, kStep, 2 kStep, 4 kStep ... tokens, as far as was asked
  mutable Prompt scratch_;
};

}  // namespace llmscape::serving
