// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <string>

#include "sim/serving/kv/channel.hpp"
#include "sim/serving/kv/kv_store.hpp"
#include "sim/serving/kv/prefix_tree.hpp"
#include "traces/content.hpp"

namespace llmscape::serving {

struct KvTierConfig {
  std::string name;
  std::int64_t blocks = 0;  // at least 1
  int block_tokens = 16;
  Bytes block_bytes;
  // Recurrent states that go with the end of what is stored of a prompt, and the blocks whose place they take. 0: none.
  Bytes state_bytes;
  std::int64_t state_blocks = 0;
  BytesPerSecond read, write;
  Seconds latency;
  bool of_one_replica = true;  // stands and falls with it
  std::int64_t memories = 1;   // that it is: of a replica that lies over several nodes, one in each
};

// What a tier has done. INV-16: written = held + evicted + forgotten, at every instant, in blocks.
struct KvTierTotals {
  std::int64_t asked_tokens = 0;  // looked for here, because HBM did not hold them
  std::int64_t blocks_read = 0, blocks_written = 0;
  std::int64_t states_read = 0, states_written = 0;
  std::int64_t evicted = 0;    // blocks that were evicted; they went to the tier below if there is one
  std::int64_t forgotten = 0;  // blocks lost with what they stood in
  std::int64_t rejected = 0;   // blocks that found no place: all was being written or read
  std::int64_t peak_blocks = 0;
};

// A memory below HBM that keeps KV blocks: host, CXL, disk, a remote store. What it holds of a prompt is whole from the
// first block on, so each tier answers for itself; blocks go by time of last use, the tail of a prompt before its head,
// into the tier below. Plain C++ with the clock handed in; may stand under several replicas.
class KvTier : public KvStore, public KvPrefixes {
 public:
  // `below` may be null.
  KvTier(KvTierConfig config, KvTier* below);

  // Those not yet here are written, and can be found when they have come; what is being written or read stays.
  void store(const Prompt& content, std::int64_t blocks, Seconds now) override;
  [[nodiscard]] std::int64_t match(const Prompt& content, std::int64_t limit, Seconds now) override;
  [[nodiscard]] Seconds read_time(std::int64_t blocks, Seconds now, const Channel& links) const override;
  Read read(const Prompt& content, std::int64_t from, std::int64_t to, Seconds now, Channel& links) override;
  void release(PrefixNode* tip) override { tree_.release(tip); }
  void count_asked(std::int64_t tokens) override { totals_.asked_tokens += tokens; }
  // A tier of its own is lost with the replica. Nothing may be being read.
  void lose() override {
    if (config_.of_one_replica) forget();
  }
  // What it stands in is lost. Nothing may be being read.
  void forget();

  [[nodiscard]] const KvTierConfig& config() const { return config_; }
  [[nodiscard]] const KvTierTotals& totals() const { return totals_; }
  [[nodiscard]] const Channel& reads() const { return reads_; }
  [[nodiscard]] const Channel& writes() const { return writes_; }
  [[nodiscard]] std::int64_t held() const { return tree_.referenced_blocks() + tree_.evictable_blocks(); }
  // Blocks and what states take.
  [[nodiscard]] std::int64_t occupied() const { return held() + tree_.states() * config_.state_blocks; }
  // INV-16. Throws std::logic_error.
  void check_invariants(bool waiting = false) const override;

 private:
  struct Write {
    Seconds arrival;
    std::uint64_t stamp;
    PrefixNode* tip;
  };
  void evict_for(std::int64_t blocks, Seconds now);
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
