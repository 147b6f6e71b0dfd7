// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "base/fields.hpp"
#include "sim/serving/replica/replica.hpp"

namespace llmscape::serving {

// A replica as a router sees it.
struct RoutingTarget {
  Replica* replica = nullptr;
  std::size_t index = 0;                  // of the replica among all
  std::int64_t outstanding_requests = 0;  // sent and not answered
  std::int64_t outstanding_tokens = 0;    // their prompts and answers
};

// Chooses the replica for a request. One policy per file under routers/.
class Router {
 public:
  virtual ~Router() = default;
  // Contract: returns an index into `targets`, the replicas that serve at present (never empty); equal targets are told
  // apart by position only; deterministic.
  virtual std::size_t choose(const Request& request, const std::vector<RoutingTarget*>& targets, Seconds now) = 0;
  // For routers that keep an order: those that serve are these from now on, in the order of their index; what is
  // outstanding at one of them, or at one that no longer serves, has changed.
  virtual void on_targets(const std::vector<RoutingTarget*>& /*targets*/) {}
  virtual void on_charge(const RoutingTarget& /*target*/) {}
  // How soon it would be sent a call though none of its own ends but those of `left` tokens, which are outstanding
  // still: 0, the next one, or not known; up to kStandings - 1, the later. Decides how far steps are priced ahead, and
  // nothing that is simulated.
  [[nodiscard]] virtual std::size_t standing(const RoutingTarget& /*target*/, std::int64_t /*left*/) const { return 0; }
};

// A policy as configured; key `policy` of `router`.
struct RouterPolicy {
  virtual ~RouterPolicy() = default;
  [[nodiscard]] virtual std::unique_ptr<Router> make() const = 0;
};

// round_robin, least_tokens, prefix_affinity, vllm_data_parallel.
const Family<RouterPolicy>& routers();

}  // namespace llmscape::serving
