// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <set>

#include "hardware/memory_tier.hpp"
#include "sim/serving/kv/channel.hpp"
#include "sim/serving/kv/kv_place.hpp"

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
class KvSwap : public KvStore, public KvPreemption {
 public:
  explicit KvSwap(const KvSwapConfig& config)
      : config_(config), reads_(config.read, config.latency), writes_(config.write, config.latency) {}

  [[nodiscard]] bool fits(std::int64_t blocks) const override { return used_ + blocks <= config_.blocks; }
  [[nodiscard]] bool pays(Seconds recompute, std::int64_t blocks, Seconds now) const override;
  Seconds write(std::int64_t blocks, Seconds now) override;
  Seconds read(std::int64_t blocks, Seconds now) override;
  void drop(std::int64_t blocks) override { used_ -= blocks; }
  [[nodiscard]] Seconds next_arrival() const override { return arrivals_.empty() ? kNever : *arrivals_.begin(); }
  void settle(Seconds now) override { arrivals_.erase(arrivals_.begin(), arrivals_.upper_bound(now)); }
  void lose() override {
    used_ = 0;
    arrivals_.clear();
  }
  // INV-16.
  void check_invariants(bool waiting) const override;
  [[nodiscard]] std::string_view section() const override { return "kv_swap"; }
  [[nodiscard]] std::vector<KvFigure> figures(Seconds now) const override;

  [[nodiscard]] std::int64_t used() const { return used_; }
  [[nodiscard]] std::int64_t peak() const { return peak_; }
  [[nodiscard]] std::int64_t swaps() const { return swaps_; }
  [[nodiscard]] std::int64_t blocks_written() const { return written_; }
  [[nodiscard]] std::int64_t blocks_read() const { return read_; }

 private:
  [[nodiscard]] Bytes bytes(std::int64_t blocks) const { return static_cast<double>(blocks) * config_.block_bytes; }

  KvSwapConfig config_;
  Channel reads_, writes_;
  std::multiset<Seconds> arrivals_;
  std::int64_t used_ = 0, peak_ = 0, swaps_ = 0, written_ = 0, read_ = 0;
};

// Key `kv_swap`.
struct KvSwapPlace : KvPlace {
  std::optional<hardware::MemoryTier> kv_swap;  // where preempted requests may wait

  [[nodiscard]] std::string key() const override { return "kv_swap"; }
  [[nodiscard]] bool configured() const override { return kv_swap.has_value(); }
  [[nodiscard]] KvPart part() const override;
  [[nodiscard]] std::vector<Problem> problems(const KvLocation&) const override;
  void build(const KvSite& site, KvBelow& below) const override;

  template <class T>
  static void add_fields(Fields<T>& f) {
    f.add_group("kv_swap", &KvSwapPlace::kv_swap, hardware::memory_tier_fields(),
                "host memory of a replica that the batcher may copy preempted requests' KV entries to; absent: none")
        .preset_from("tiers");
  }
};

}  // namespace llmscape::serving
