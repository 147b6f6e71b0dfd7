// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "base/quantity.hpp"
#include "models/batch.hpp"

namespace llmscape::serving {

// Whether a step's copies run beside its layers or hold each of them up.
enum class KvCopies : std::uint8_t { overlapped, in_turn };

// Host memory for KV entries of running requests, and the link to it.
struct KvHostConfig {
  std::int64_t blocks = 0;         // of it; 0: all entries are in HBM
  std::int64_t device_blocks = 0;  // that HBM holds besides; 0: all entries are on the host
  std::vector<std::int64_t> laws;  // models::kv_laws, and ...
  std::vector<double> law_bytes;   // ... what a token's entries take in the layers of each
  int caches = 0;                  // layers that keep entries: each is copied by itself
  BytesPerSecond read, write;      // of all ranks of a replica together
  Seconds latency;                 // of a copy
  KvCopies copies = KvCopies::overlapped;
};

// What a step copies, and for how long it waits.
struct KvHostTraffic {
  Bytes read, written;
  Seconds wait;  // the step is longer by so much
};

// KV entries on the host. The pool of blocks is that of HBM and behind it that of the host; blocks in use fill HBM
// first, and what a step attends to lies on the host in the same share as the blocks in use. New entries are written
// to the host once, and each step reads what it attends to there.
class KvHost {
 public:
  explicit KvHost(KvHostConfig config);

  // Of a step that takes the device `compute` without copies. `used_before`, `used`: blocks in use before it was
  // planned and with it.
  [[nodiscard]] KvHostTraffic traffic(const models::Batch& batch, std::int64_t used_before, std::int64_t used,
                                      Seconds compute) const;
  // The step will run.
  void count(const KvHostTraffic& traffic, std::int64_t used);

  [[nodiscard]] std::int64_t peak_blocks() const { return peak_; }
  [[nodiscard]] Bytes block_bytes(int block_tokens) const { return Bytes(token_bytes_ * block_tokens); }
  [[nodiscard]] const KvHostTraffic& total() const { return total_; }

 private:
  [[nodiscard]] double on_host(std::int64_t used) const;
  [[nodiscard]] double written_tokens(const models::Batch& batch) const;
  [[nodiscard]] Bytes attended(const models::Batch& batch) const;

  KvHostConfig config_;
  double token_bytes_ = 0;
  std::int64_t peak_ = 0;
  KvHostTraffic total_;
};

}  // namespace llmscape::serving
