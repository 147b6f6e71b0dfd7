// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <list>
#include <vector>

#include "sim/serving/kv/kv_tier.hpp"
#include "sim/serving/replica/engine_state.hpp"

namespace llmscape::serving {

// When KV blocks are written to the first tier.
enum class KvWrite {
  on_eviction,   // when they are evicted from HBM
  write_through  // when they come to be cached in HBM, so that nothing is left to be written then
};

// Whether what a tier holds of a prompt is fetched.
enum class KvFetch {
  by_cost,  // if that is over before it were computed, were the request alone
  always,
  never
};

struct KvOffloadConfig {
  std::vector<KvTier*> tiers;  // from HBM downwards; each the `below` of the one before it
  KvWrite write = KvWrite::on_eviction;
  KvFetch fetch = KvFetch::by_cost;
  bool prefetch = true;  // a fetch may begin while slots are lacking
};

// One replica's view of the tiers below its HBM: writes to them what its cache publishes or evicts, and fetches
// prefixes for requests that wait. A request whose prefix is on its way stands outside the waiting queue, so others
// overtake it, and holds the blocks that the prefix will fill.
class KvOffload : public KvCacheListener {
 public:
  // `prefill_time(cached, tokens)`: of computing tokens [cached, tokens) of a prompt, alone.
  KvOffload(KvOffloadConfig config, std::int64_t max_sequences,
            std::function<Seconds(std::int64_t cached, std::int64_t tokens)> prefill_time);

  [[nodiscard]] bool active() const { return !config_.tiers.empty(); }
  // What the cache says from now on happens at `now`.
  void set_clock(Seconds now) { now_ = now; }
  // Whether what is evicted from HBM is written: then the moment at which it does counts.
  [[nodiscard]] bool writes_evicted() const { return active() && config_.write == KvWrite::on_eviction; }

  // Looks for the prefixes of requests that wait and fit beside all that are before them, and begins to fetch
  // those that pay.
  void begin_fetches(EngineState& state, Seconds now);
  // When the next prefix has come; kNever if none is on its way.
  [[nodiscard]] Seconds next_arrival() const;
  // Prefixes that have come by `now` are cached in HBM and their requests wait as others do. Returns whether any has.
  bool end_fetches(EngineState& state, Seconds now);
  // The request is no longer wanted. False if nothing is on its way for it.
  bool cancel(EngineState& state, Request& request);
  // The replica is lost: so are the fetches, whose requests are appended to `lost`, and the tiers of its own.
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
    KvTier* tier = nullptr;   // null: nothing is fetched
    std::int64_t blocks = 0;  // of the prompt, from its first on, that are there then
    Seconds computed, whole;  // when the prompt would be whole, computed only and so
  };
  [[nodiscard]] bool fetches() const { return active() && config_.fetch != KvFetch::never; }
  struct Fetch {
    Request* request;
    KvTier* tier;
    KvTier::Read read;
    std::int64_t blocks;
    Lease lease;
  };

  [[nodiscard]] Source best_source(const Prompt& content, std::int64_t tokens, std::int64_t hit_blocks, Seconds now);
  void begin(EngineState& state, Request& request, Seconds now);

  KvOffloadConfig config_;
  std::int64_t max_sequences_;
  std::function<Seconds(std::int64_t, std::int64_t)> prefill_time_;
  std::list<Fetch> fetches_;  // in the order in which they began
  Seconds now_;
};

}  // namespace llmscape::serving
