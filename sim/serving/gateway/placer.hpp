// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "sim/serving/gateway/fleet_state.hpp"

namespace llmscape::serving {

// Which of the pools that take a call is sent it.
enum class Placement {
  in_order,     // the first that has a replica that serves
  least_loaded  // the one with the fewest outstanding tokens per replica
};

// Whether the pool takes the call, of whose prompt so many tokens are in no cache; `to_decode`: what follows its first
// token.
bool takes(const PoolState& pool, bool to_decode, const Request& request, std::int64_t uncached);

// Chooses the replica that goes on with a call: first the pool, by what it serves and takes, then by the pool's router.
class Placer {
 public:
  struct Choice {
    std::optional<std::size_t> replica;
    std::int64_t uncached = 0;     // of the prompt, in no cache of those that could compute it
    Reason reason = Reason::none;  // why there will never be one; none: there may be one later
  };

  // `controllers` may start replicas of `fleet`, which are those of `state`.
  Placer(Placement placement, FleetState& state, const Fleet& fleet, const std::vector<Controller*>& controllers)
      : placement_(placement), state_(state), fleet_(fleet), controllers_(controllers) {}
  Choice choose(bool to_decode, const Request& request, Seconds now);
  // Why no replica will ever go on with it; none: one may.
  [[nodiscard]] Reason hopeless(bool to_decode, const Request& request, std::int64_t uncached) const;

 private:
  [[nodiscard]] std::int64_t uncached_tokens(const Request& request, Seconds now);
  [[nodiscard]] bool returns(const Member& member) const;
  const std::vector<RoutingTarget*>& able(const PoolState& pool, const Request& request);

  Placement placement_;
  FleetState& state_;
  const Fleet& fleet_;
  const std::vector<Controller*>& controllers_;
  std::vector<RoutingTarget*> able_;  // of the pool that was asked last, where not all of its replicas hold the call
};

}  // namespace llmscape::serving
