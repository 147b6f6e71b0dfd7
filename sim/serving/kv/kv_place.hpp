// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/model.hpp"
#include "sim/serving/kv/kv_rules.hpp"
#include "sim/serving/kv/kv_store.hpp"

namespace llmscape::serving {

class KvTier;

// Blocks of a replica's pool.
struct KvPoolBlocks {
  std::int64_t devices = 0;
  std::int64_t below = 0;  // behind them, on a place that spills
  [[nodiscard]] std::int64_t all() const { return devices + below; }
};

// The replica that a place is built for.
struct KvSite {
  const models::ModelSpec& model;
  std::int64_t block_tokens = 16;
  Bytes block_bytes;  // of a block's entries in all layers, all ranks together
  KvPoolBlocks pool;
  bool prefix_caching = false;
  // Models that take turns at its devices, itself among them: a memory of the replica is divided evenly among them.
  std::int64_t tenants = 1;
  // One of `kv_tiers` that the replica has, alone or with others, and what its devices read of it over their own links.
  struct Tier {
    std::shared_ptr<KvTier> tier;
    BytesPerSecond links;
  };
  std::function<std::vector<Tier>()> tiers;  // from the nearest on
};

// Where a group of devices stands, for places that are shared.
struct KvLocation {
  std::string group;
  bool in_fabric = false;  // hardware.fabric.groups says in which nodes
};

// A place below the pool as a scenario describes it, one struct a kind with the keys of its own; a row in
// kv_places.hpp. The base of `serving` and of each of its pools.
struct KvPlace {
  virtual ~KvPlace() = default;
  [[nodiscard]] virtual std::string key() const = 0;
  // The scenario describes one.
  [[nodiscard]] virtual bool configured() const = 0;
  // What it needs of the rest of the replica.
  [[nodiscard]] virtual KvPart part() const = 0;
  // What is wrong with it by itself.
  struct Problem {
    std::string message, hint;
  };
  [[nodiscard]] virtual std::vector<Problem> problems(const KvLocation&) const { return {}; }
  // The pool with it, out of the pool without; blocks of `block` bytes, `tenants` as in KvSite.
  [[nodiscard]] virtual KvPoolBlocks pool(const KvPoolBlocks& without, Bytes /*block*/,
                                          std::int64_t /*tenants*/) const {
    return without;
  }
  // Adds its stores, and its rules for prefixes.
  virtual void build(const KvSite& site, KvBelow& below) const = 0;
};

}  // namespace llmscape::serving
