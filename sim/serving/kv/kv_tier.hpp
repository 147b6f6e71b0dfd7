// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <string>

#include "sim/serving/kv/lease.hpp"
#include "sim/serving/kv/prefix_tree.hpp"
#include "traces/content.hpp"

namespace llmscape::serving {

// One direction of a tier's link: transfers follow one another in the order in which they are asked for, each at the
// full bandwidth. Latency is paid by each and does not hold up the next.
class Channel {
 public:
  Channel(BytesPerSecond bandwidth, Seconds latency) : bandwidth_(bandwidth), latency_(latency) {}
  // When the last byte of a transfer would have come that is asked for at `now`.
  [[nodiscard]] Seconds arrival(Bytes bytes, Seconds now) const;
  // Asks for it; returns the same. Calls must come in order of time.
  Seconds send(Bytes bytes, Seconds now);
  // Time that it has been at work until `now`.
  [[nodiscard]] Seconds busy(Seconds now) const;

 private:
  BytesPerSecond bandwidth_;
  Seconds latency_;
  Seconds free_at_;
  Seconds busy_;
};

struct KvTierConfig {
  std::string name;
  std::int64_t blocks = 0;  // at least 1
  int block_tokens = 16;
  Bytes block_bytes;
  BytesPerSecond read, write;
  Seconds latency;
  bool of_one_replica = true;  // stands and falls with it
};

// What a tier has done. INV-16: written = held + evicted + forgotten, at every instant, in blocks.
struct KvTierTotals {
  std::int64_t asked_tokens = 0;  // looked for here, because HBM did not hold them
  std::int64_t blocks_read = 0, blocks_written = 0;
  std::int64_t evicted = 0;    // blocks that were evicted; they went to the tier below if there is one
  std::int64_t forgotten = 0;  // blocks lost with what they stood in
  std::int64_t rejected = 0;   // blocks that found no place: all was being written or read
  std::int64_t peak_blocks = 0;
};

// A memory below HBM that keeps KV blocks: host, CXL, disk, a remote store. What it holds of a prompt is whole from the
// first block on, so each tier answers for itself; blocks go by time of last use, the tail of a prompt before its head,
// into the tier below. Plain C++ with the clock handed in; may stand under several replicas.
class KvTier {
 public:
  // `below` may be null.
  KvTier(KvTierConfig config, KvTier* below);

  // Keeps the first `blocks` blocks of the content; those not yet here are written, and can be found when they have
  // come. As many as fit; what is being written or read stays.
  void store(const Prompt& content, std::int64_t blocks, Seconds now);
  // How many of the first `limit` blocks of the content can be read.
  std::int64_t match(const Prompt& content, std::int64_t limit, Seconds now);
  // How long reading `blocks` blocks would take, the queue before them included.
  [[nodiscard]] Seconds read_time(std::int64_t blocks, Seconds now) const;

  struct Read {
    PrefixNode* tip = nullptr;
    Seconds arrival;
  };
  // Reads blocks [from, to) of the content, which match() has found; they stay until release().
  Read read(const Prompt& content, std::int64_t from, std::int64_t to, Seconds now);
  void release(PrefixNode* tip) { tree_.release(tip); }
  // `tokens` were looked for.
  void count_asked(std::int64_t tokens) { totals_.asked_tokens += tokens; }
  // What it stands in is lost. Nothing may be being read.
  void forget();

  [[nodiscard]] const KvTierConfig& config() const { return config_; }
  [[nodiscard]] const KvTierTotals& totals() const { return totals_; }
  [[nodiscard]] const Channel& reads() const { return reads_; }
  [[nodiscard]] const Channel& writes() const { return writes_; }
  [[nodiscard]] std::int64_t held() const { return tree_.referenced_blocks() + tree_.evictable_blocks(); }
  // INV-16. Throws std::logic_error.
  void check_invariants() const;

 private:
  struct Write {
    Seconds arrival;
    std::uint64_t stamp;
    PrefixNode* tip;
  };
  void settle(Seconds now);

  KvTierConfig config_;
  KvTier* below_;
  PrefixTree tree_;
  Channel reads_, writes_;
  std::deque<Write> writing_;  // in order of arrival
  std::uint64_t written_ = 0;  // the newest publication that has come
  std::uint64_t stamp_ = 0;    // the newest one that was asked for
  KvTierTotals totals_;
};

}  // namespace llmscape::serving
