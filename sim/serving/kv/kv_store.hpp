// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/quantity.hpp"
#include "models/batch.hpp"
#include "sim/serving/kv/channel.hpp"
#include "sim/serving/kv/lease.hpp"
#include "traces/content.hpp"

namespace llmscape::serving {

// A figure of a store for the results, and how it is put together over those of all replicas.
struct KvFigure {
  enum class Over : std::uint8_t {
    sum,
    most,           // the largest
    of_time,        // a share of the run, mean of the stores
    of_preemptions  // a share of the replicas' preemptions
  };
  std::string_view name;
  double value = 0;
  Over over = Over::sum;
  bool whole = false;  // a count
};

// A memory below the pool of one replica or of several. What it does with KV entries are the policies from which it
// derives besides: KvSpill, KvPreemption, KvPrefixes.
class KvStore {
 public:
  virtual ~KvStore() = default;
  // The section of the results that its figures, as of `now`, go into; none: what it did is reported elsewhere.
  [[nodiscard]] virtual std::string_view section() const { return {}; }
  [[nodiscard]] virtual std::vector<KvFigure> figures(Seconds /*now*/) const { return {}; }
  // The replica is lost, and no sequence holds anything here.
  virtual void lose() {}
  // `waiting`: whether sequences wait for its replica. Throws std::logic_error naming the invariant that does not hold.
  virtual void check_invariants(bool /*waiting*/) const {}
};

// What a step copies, and for how long it waits.
struct KvStepCopies {
  Bytes read, written;
  Seconds wait;  // the step is longer by so much
};

// Holds blocks of running sequences that are in use: they belong to the pool, behind those of the devices.
class KvSpill {
 public:
  virtual ~KvSpill() = default;
  // Of a step that takes the device `compute` without copies. `before`, `now`: blocks of the pool that hold something
  // before it was planned and with it.
  [[nodiscard]] virtual KvStepCopies copies(const models::Batch& batch, std::int64_t before, std::int64_t now,
                                            Seconds compute) const = 0;
  // The step will run.
  virtual void count(const KvStepCopies& copies, std::int64_t now) = 0;
};

// Holds blocks of sequences that were preempted, until they run again.
class KvPreemption {
 public:
  virtual ~KvPreemption() = default;
  [[nodiscard]] virtual bool fits(std::int64_t blocks) const = 0;
  // Copying the blocks out, from now on with what is queued before them, and back takes less than `recompute`.
  [[nodiscard]] virtual bool pays(Seconds recompute, std::int64_t blocks, Seconds now) const = 0;
  // Copies blocks out or in; when that is done. A copy in frees the store's blocks at once.
  virtual Seconds write(std::int64_t blocks, Seconds now) = 0;
  virtual Seconds read(std::int64_t blocks, Seconds now) = 0;
  // The copy of so many blocks is for nobody any more.
  virtual void drop(std::int64_t blocks) = 0;
  // When the next copy is done that was not by the last settle(); kNever if none is under way.
  [[nodiscard]] virtual Seconds next_arrival() const = 0;
  virtual void settle(Seconds now) = 0;
};

// Holds blocks of known content that the pool has published or evicted, for whoever comes with the same prefix.
class KvPrefixes {
 public:
  virtual ~KvPrefixes() = default;
  // Keeps the first `blocks` blocks of the content, as many as find a place.
  virtual void store(const Prompt& content, std::int64_t blocks, Seconds now) = 0;
  // How many of the first `limit` blocks of the content can be read.
  [[nodiscard]] virtual std::int64_t match(const Prompt& content, std::int64_t limit, Seconds now) = 0;
  // What the links of whoever reads carry together where the store by itself is the limit.
  static constexpr BytesPerSecond kAnyLinks{std::numeric_limits<double>::infinity()};
  // How long reading `blocks` blocks would take over the links of whoever reads, the queues before them included.
  [[nodiscard]] virtual Seconds read_time(std::int64_t blocks, Seconds now, const Channel& links) const = 0;
  struct Read {
    PrefixNode* tip = nullptr;
    Seconds arrival;
  };
  // Reads blocks [from, to) of the content, which match() has found; they stay until release().
  virtual Read read(const Prompt& content, std::int64_t from, std::int64_t to, Seconds now, Channel& links) = 0;
  virtual void release(PrefixNode* tip) = 0;
  // `tokens` were looked for.
  virtual void count_asked(std::int64_t tokens) = 0;
};

// When KV blocks are written to the first store of prefixes.
enum class KvWrite : std::uint8_t {
  on_eviction,   // when they are evicted from HBM
  write_through  // when they come to be cached in HBM, so that nothing is left to be written then
};

// Whether what a store holds of a prompt is fetched.
enum class KvFetch : std::uint8_t {
  by_cost,  // if that is over before it were computed, were the request alone
  always,
  never
};

// What lies below a replica's pool, and the rules by which prefixes go there and come back.
struct KvBelow {
  std::vector<std::shared_ptr<KvStore>> stores;  // from the nearest on
  KvWrite write = KvWrite::on_eviction;
  KvFetch fetch = KvFetch::by_cost;
  bool prefetch = true;  // a fetch may begin while slots are lacking
  // What the replica's devices read of some of them over their own links, together.
  std::map<const KvStore*, BytesPerSecond> links{};
};

}  // namespace llmscape::serving
