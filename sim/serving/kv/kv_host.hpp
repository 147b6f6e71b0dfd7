// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "hardware/memory_tier.hpp"
#include "sim/serving/kv/kv_place.hpp"

namespace llmscape::serving {

// Whether a step's copies run beside its layers or hold each of them up.
enum class KvCopies : std::uint8_t { overlapped, in_turn };

// Host memory for KV entries of running requests, and the link to it.
struct KvHostConfig {
  std::int64_t device_blocks = 0;  // that HBM holds besides; 0: all entries are on the host
  // What layers with caches of their own keep and read alike: entries, or keys of an index.
  struct Layers {
    std::size_t law = 0;      // of models::kv_laws: what decodes read
    std::int64_t window = 0;  // of the tokens of a prompt; 0: none
    models::TokenChange change{};
    double token_bytes = 0;   // of a token in all of them
    std::int64_t chosen = 0;  // each token's own choice of so many entries, from all before it; 0: there is no choice
  };
  std::vector<Layers> layers;
  int caches = 0;              // of all: each is copied by itself
  BytesPerSecond read, write;  // of all ranks of a replica together
  Seconds latency;             // of a copy
  KvCopies copies = KvCopies::overlapped;
  // Blocks stay cached: once the pool is full, new entries take the places of evicted ones, here or there.
  bool evicts = false;
  Bytes block_bytes;
};

// KV entries on the host. The pool of blocks is that of HBM and behind it that of the host; blocks that hold something
// fill HBM first, and what a step attends to lies on the host in the same share as they do. New entries are written to
// the host once, whatever of them a token plan drops then, and each step reads what it attends to there.
class KvHost : public KvStore, public KvSpill {
 public:
  explicit KvHost(KvHostConfig config);

  [[nodiscard]] KvStepCopies copies(const models::Batch& batch, std::int64_t before, std::int64_t now,
                                    Seconds compute) const override;
  void count(const KvStepCopies& copies, std::int64_t now) override;
  [[nodiscard]] std::string_view section() const override { return "kv_host"; }
  [[nodiscard]] std::vector<KvFigure> figures(Seconds now) const override;

  [[nodiscard]] std::int64_t peak_blocks() const { return peak_; }
  [[nodiscard]] const KvStepCopies& total() const { return total_; }

 private:
  [[nodiscard]] double on_host(std::int64_t blocks) const;
  [[nodiscard]] double written_tokens(const models::Batch& batch) const;
  [[nodiscard]] Bytes attended(const models::Batch& batch) const;

  KvHostConfig config_;
  double token_bytes_ = 0;
  std::int64_t peak_ = 0;
  KvStepCopies total_;
};

struct KvHostMemory : hardware::MemoryTier {
  enum class Keeps { overflow, all };
  Keeps keeps = Keeps::overflow;
  KvCopies copies = KvCopies::overlapped;
};
const Fields<KvHostMemory>& kv_host_fields();

// Key `kv_host`.
struct KvHostPlace : KvPlace {
  std::optional<KvHostMemory> kv_host;  // where KV entries are that do not fit into HBM

  [[nodiscard]] std::string key() const override { return "kv_host"; }
  [[nodiscard]] bool configured() const override { return kv_host.has_value(); }
  [[nodiscard]] KvPart part() const override;
  [[nodiscard]] std::vector<Problem> problems(const KvLocation&) const override;
  [[nodiscard]] KvPoolBlocks pool(const KvPoolBlocks& without, Bytes block, std::int64_t tenants) const override;
  void build(const KvSite& site, KvBelow& below) const override;

  template <class T>
  static void add_fields(Fields<T>& f) {
    f.add_group("kv_host", &KvHostPlace::kv_host, kv_host_fields(),
                "host memory of a replica for KV entries of running requests, behind that of the devices; absent: none")
        .preset_from("tiers");
  }
};

}  // namespace llmscape::serving
