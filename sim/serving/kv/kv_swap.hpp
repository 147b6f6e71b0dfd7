// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "sim/serving/kv/kv_tier.hpp"

namespace llmscape::serving {

// Host memory for the KV blocks of requests that are preempted, and the link to it.
struct KvSwapConfig {
  std::int64_t blocks = 0;
  Bytes block_bytes;  // of all ranks of a replica together, as the bandwidths are
  BytesPerSecond read, write;
  Seconds latency;
};

// Where one replica swaps requests to in place of computing them again. Copies out and copies in follow one another on
// a queue each; blocks in HBM are free as soon as a copy out is asked for, as from a staging buffer, and a request goes
// on when its copy is there.
class KvSwap {
 public:
  // `prefill_time(cached, tokens)`: of computing tokens [cached, tokens) of a prompt, alone. It is asked for some
  // lengths and taken as linear between them (Stream2LLM, arXiv 2604.16395, profiles it so).
  KvSwap(KvSwapConfig config, std::function<Seconds(std::int64_t cached, std::int64_t tokens)> prefill_time);

  [[nodiscard]] bool fits(std::int64_t blocks) const { return used_ + blocks <= config_.blocks; }
  // Writing the blocks, from now on with what is queued before them, and reading them takes less than computing the
  // first `tokens` tokens of a prompt.
  [[nodiscard]] bool pays(std::int64_t tokens, std::int64_t blocks, Seconds now);
  [[nodiscard]] Seconds recompute_time(std::int64_t tokens);

  // Copies blocks out or in; when that is done. A copy in frees the host's blocks at once.
  Seconds write(std::int64_t blocks, Seconds now);
  Seconds read(std::int64_t blocks, Seconds now);
  // The copy of so many blocks is for nobody any more.
  void drop(std::int64_t blocks) { used_ -= blocks; }
  void forget() {
    used_ = 0;
    arrivals_.clear();
  }

  // When the next copy is done that was not by the last settle(); kNever if none is under way.
  [[nodiscard]] Seconds next_arrival() const { return arrivals_.empty() ? kNever : *arrivals_.begin(); }
  void settle(Seconds now) { arrivals_.erase(arrivals_.begin(), arrivals_.upper_bound(now)); }

  [[nodiscard]] std::int64_t used() const { return used_; }
  [[nodiscard]] std::int64_t peak() const { return peak_; }
  [[nodiscard]] std::int64_t blocks_written() const { return written_; }
  [[nodiscard]] std::int64_t blocks_read() const { return read_; }
  [[nodiscard]] const Channel& reads() const { return reads_; }
  [[nodiscard]] const Channel& writes() const { return writes_; }
  [[nodiscard]] const KvSwapConfig& config() const { return config_; }

 private:
  [[nodiscard]] Bytes bytes(std::int64_t blocks) const { return static_cast<double>(blocks) * config_.block_bytes; }

  KvSwapConfig config_;
  std::function<Seconds(std::int64_t, std::int64_t)> prefill_time_;
  std::vector<Seconds> profile_;  // of 0, kStep, 2 kStep, 4 kStep ... tokens, as far as was asked
  Channel reads_, writes_;
  std::multiset<Seconds> arrivals_;
  std::int64_t used_ = 0, peak_ = 0, written_ = 0, read_ = 0;
};

}  // namespace llmscape::serving
