// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <list>
#include <vector>

#include "sim/serving/kv/kv_cache.hpp"
#include "sim/serving/kv/kv_store.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::serving {

class EngineState;
class KvMemory;

// The rules by which prefixes go to the stores below a replica's pool and come back: writes to the first of them what
// the pool publishes or evicts, and fetches prefixes for requests that wait. A request whose prefix is on its way
// stands outside the waiting queue, so others overtake it, and holds the blocks that the prefix will fill.
class KvOffload : public KvCacheListener {
 public:
  // Of the stores below the pool of `memory`, those that hold prefixes.
  KvOffload(const KvMemory& memory, const KvBelow& below, std::int64_t max_sequences);

  [[nodiscard]] bool active() const { return !stores_.empty(); }
  // What the cache says from now on happens at `now`.
  void set_clock(Seconds now) { now_ = now; }
  // Whether what is evicted from HBM is written: then the moment at which it does counts.
  [[nodiscard]] bool writes_evicted() const { return active() && write_ == KvWrite::on_eviction; }

  // Looks for the prefixes of requests that wait and fit beside all that are before them, and begins to fetch
  // those that pay.
  void begin_fetches(EngineState& state, Seconds now);
  // When the next prefix has come; kNever if none is on its way.
  [[nodiscard]] Seconds next_arrival() const;
  // Prefixes that have come by `now` are cached in HBM and their requests wait as others do. Returns whether any has.
  bool end_fetches(EngineState& state, Seconds now);
  // The request is no longer wanted. False if nothing is on its way for it.
  bool cancel(EngineState& state, Request& request);
  // The replica is lost: so are the fetches, whose requests are appended to `lost`.
  void lose(EngineState& state, std::vector<Request*>& lost);

  // Of the tokens of a prompt behind its first `hit_blocks` blocks: how many need not be computed, what it takes to
  // fetch them counted as computing.
  [[nodiscard]] std::int64_t spared_tokens(const Prompt& content, std::int64_t tokens, std::int64_t hit_blocks,
                                           Seconds now);
  // Requests whose prefix is on its way.
  [[nodiscard]] std::int64_t fetching() const { return static_cast<std::int64_t>(fetches_.size()); }

  void on_published(const Prompt& content, std::int64_t blocks) override;
  void on_evicted(const Prompt& path) override;

 private:
  struct Source {
    KvPrefixes* store = nullptr;  // null: nothing is fetched
    Channel* links = nullptr;     // of the replica's devices to it
    std::int64_t blocks = 0;      // of the prompt, from its first on, that are there then
    Seconds computed, whole;      // when the prompt would be whole, computed only and so
  };
  [[nodiscard]] bool fetches() const { return active() && fetch_ != KvFetch::never; }
  struct Fetch {
    Request* request;
    KvPrefixes* store;
    KvPrefixes::Read read;
    std::int64_t blocks;
    Lease lease;
  };

  [[nodiscard]] Source best_source(const Prompt& content, std::int64_t tokens, std::int64_t hit_blocks, Seconds now);
  void begin(EngineState& state, Request& request, Seconds now);

  const KvMemory& memory_;
  std::vector<KvPrefixes*> stores_;  // from the pool downwards
  std::vector<Channel> links_;       // of the replica's devices to each
  KvWrite write_;
  KvFetch fetch_;
  bool prefetch_;
  std::int64_t max_sequences_;
  std::list<Fetch> fetches_;  // in the order in which they began
  Seconds now_;
};

}  // namespace llmscape::serving
