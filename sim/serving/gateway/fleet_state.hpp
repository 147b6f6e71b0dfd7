// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "sim/serving/gateway/fleet.hpp"
#include "sim/serving/gateway/provisioned.hpp"
#include "sim/serving/router.hpp"

namespace llmscape::serving {

// Which calls a pool takes; all, if nothing is said.
struct Acceptance {
  std::int64_t longer_than = -1;  // prompt tokens that are in no cache of the pools that could take the call
  std::int64_t up_to = std::numeric_limits<std::int64_t>::max();
  std::vector<int> slo_classes;  // none: any
  [[nodiscard]] bool by_length() const { return longer_than >= 0 || up_to < std::numeric_limits<std::int64_t>::max(); }
};

// Replicas that are alike to the gateway, as it is given them.
struct Pool {
  Role role = Role::any;
  std::unique_ptr<Router> router;
  std::vector<Replica*> replicas;
  Bytes kv_per_token;  // what a KV transfer moves of each prompt token, all ranks together
  int model = 0;       // index into the scenario's models
  Acceptance accepts{};
  std::int64_t off = 0;  // of its replicas, the last ones: not started yet
  // What a KV transfer moves of so many prompt tokens, where that is not `kv_per_token` for each.
  std::function<Bytes(std::int64_t tokens)> kv_of_prompt{};
  double kv_copies = 1;  // of each entry that its replicas hold, and have to be sent
};

// A pool while the system runs.
struct PoolState {
  Role role;
  std::unique_ptr<Router> router;
  Bytes kv_per_token;
  int model;
  Acceptance accepts;
  std::function<Bytes(std::int64_t)> kv_of_prompt;
  double kv_copies;
  std::vector<RoutingTarget*> targets{};  // its replicas that serve
  bool alike = true;                      // all of them hold the same calls
  PoolHistory history{};                  // as of the last change of each replica

  [[nodiscard]] Bytes kv_bytes(std::int64_t tokens) const {
    return kv_of_prompt ? kv_of_prompt(tokens) : static_cast<double>(tokens) * kv_per_token;
  }
};

// A replica while the system runs.
struct Member : RoutingTarget {
  std::size_t pool = 0;
  Availability availability = Availability::serving;
  bool wanted = true;           // it is to serve: not off, nor draining to be off
  int cordons = 0;              // Fleet::cordon() and lose() that are not repaired
  bool for_good = false;        // one of them never is
  std::size_t next_pool = 0;    // of one that is to be converted: where it serves after draining ...
  Seconds conversion = kNever;  // ... and this; kNever: it is not
  Seconds ready;                // of one that loads
  Seconds since;                // it has been as it is
  Provisioned provisioned;

  [[nodiscard]] bool converts() const { return conversion < kNever; }
};

// The pools and their replicas, numbered over the pools in order.
struct FleetState {
  explicit FleetState(std::vector<Pool> all, std::function<void(std::size_t)> tell);

  std::vector<PoolState> pools;
  std::deque<Member> members;
  bool by_length = false;                 // a pool takes calls by the length of their prompts
  std::function<void(std::size_t)> ring;  // tells that a replica has a message

  [[nodiscard]] Replica& replica(std::size_t i) { return *members[i].replica; }
  [[nodiscard]] const PoolState& pool_of(std::size_t replica) const { return pools[members[replica].pool]; }
  // Replicas that serve have changed.
  void refresh_targets();
};

}  // namespace llmscape::serving
