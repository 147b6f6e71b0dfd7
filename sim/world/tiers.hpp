// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/result/result.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/serving/kv/kv_place.hpp"
#include "sim/serving/kv/kv_tier.hpp"
#include "sim/world/links.hpp"

namespace llmscape::world {

// The memories below the HBM of all replicas. Tiers that are described alike, and that replicas of the same model and
// block size share, are one.
class Tiers {
 public:
  explicit Tiers(const scenario::Scenario& scenario) : scenario_(scenario) {}

  // What lies below the replica, from the nearest on; tiers smaller than a block are left out. `copies`: how often its
  // devices hold an entry together.
  std::vector<serving::KvSite::Tier> below(const scenario::PoolConfig& pool, const Seat& seat,
                                           const scenario::ReplicaSize& size, double copies);

  // What they did, by name, in the order of the scenario. Throws std::logic_error naming the invariant that does not
  // hold.
  [[nodiscard]] std::vector<result::TierResult> results(Seconds end) const;

 private:
  [[nodiscard]] result::TierResult sum(const std::string& name, Seconds end) const;

  const scenario::Scenario& scenario_;
  std::vector<std::shared_ptr<serving::KvTier>> tiers_;
  std::map<std::string, std::shared_ptr<serving::KvTier>> known_;
};

}  // namespace llmscape::world
