// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway/fleet_state.hpp"

#include <algorithm>
#include <utility>

namespace llmscape::serving {

FleetState::FleetState(std::vector<Pool> all, std::function<void(std::size_t)> tell) : ring(std::move(tell)) {
  for (Pool& pool : all) {
    by_length = by_length || pool.accepts.by_length();
    const std::int64_t started = static_cast<std::int64_t>(pool.replicas.size()) - pool.off;
    std::int64_t place = 0;
    for (Replica* replica : pool.replicas) {
      Member& member = members.emplace_back();
      member.replica = replica;
      member.index = members.size() - 1;
      member.pool = pools.size();
      member.wanted = place++ < started;
      if (member.wanted) member.provisioned.switch_on(Seconds());
      else member.availability = Availability::off;
    }
    pools.push_back({pool.role, std::move(pool.router), pool.kv_per_token, pool.model, std::move(pool.accepts),
                     std::move(pool.kv_of_prompt), pool.kv_copies});
  }
  refresh_targets();
}

void FleetState::refresh_targets() {
  for (PoolState& pool : pools) pool.targets.clear();
  for (Member& member : members)
    if (member.availability == Availability::serving) pools[member.pool].targets.push_back(&member);
  for (PoolState& pool : pools) {
    pool.alike = std::ranges::all_of(pool.targets, [&pool](const RoutingTarget* target) {
      return target->replica->holds_as_much_as(*pool.targets.front()->replica);
    });
    pool.router->on_targets(pool.targets);
  }
}

}  // namespace llmscape::serving
