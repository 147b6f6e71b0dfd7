// SPDX-License-Identifier: Apache-2.0
// Which replica goes on with a call: first the pool, by what it serves and takes, then the pool's router.
#include <algorithm>

#include "sim/serving/gateway.hpp"

namespace llmscape::serving {

bool Gateway::takes(const PoolState& pool, bool to_decode, const Request& request, std::int64_t uncached) const {
  if ((pool.role == Role::decode) != to_decode || pool.model != request.model) return false;
  const std::vector<int>& classes = pool.accepts.slo_classes;
  if (!classes.empty() && std::ranges::find(classes, request.slo_class) == classes.end()) return false;
  return to_decode || (uncached > pool.accepts.longer_than && uncached <= pool.accepts.up_to);
}

// Of the prompt, the least that any replica that could compute it has not cached.
std::int64_t Gateway::uncached_tokens(const Request& request, Seconds now) {
  if (!by_length_) return request.prompt_tokens;
  std::int64_t cached = 0;
  for (const PoolState& pool : pools_)
    if (pool.role != Role::decode && pool.model == request.model)
      for (const RoutingTarget* target : pool.targets)
        cached = std::max(cached, target->replica->cached_tokens(request.prompt, request.prompt_tokens, now));
  return request.prompt_tokens - cached;
}

bool Gateway::holds(const PoolState& pool, const Request& request) const {
  return std::ranges::any_of(pool.targets,
                             [&](const RoutingTarget* target) { return target->replica->servable(request); });
}

// Why no replica will ever go on with the call; none: one may.
Reason Gateway::hopeless(bool to_decode, const Request& request, std::int64_t uncached) const {
  Reason reason = Reason::not_accepted;
  for (const Member& member : members_) {
    if (!takes(future_pool(member), to_decode, request, uncached)) continue;
    if (reason == Reason::not_accepted) reason = Reason::too_long;
    if (!member.replica->servable(request)) continue;
    if (returns(member)) return Reason::none;
    reason = Reason::no_replica;
  }
  return reason;
}

Gateway::Choice Gateway::choose(bool to_decode, const Request& request, Seconds now) {
  const std::int64_t uncached = to_decode ? 0 : uncached_tokens(request, now);
  PoolState* chosen = nullptr;
  double least = 0;
  for (PoolState& pool : pools_) {
    if (!takes(pool, to_decode, request, uncached) || !holds(pool, request)) continue;
    if (config_.placement == Placement::in_order) {
      chosen = &pool;
      break;
    }
    double tokens = 0;
    for (const RoutingTarget* target : pool.targets) tokens += static_cast<double>(target->outstanding_tokens);
    const double load = tokens / static_cast<double>(pool.targets.size());
    if (chosen && load >= least) continue;
    chosen = &pool;
    least = load;
  }
  if (!chosen) return {nullptr, uncached, hopeless(to_decode, request, uncached)};
  RoutingTarget* target = chosen->targets[chosen->router->choose(request, chosen->targets, now)];
  if (!target->replica->servable(request))  // the pool's replicas are not all of a size
    target = *std::ranges::find_if(chosen->targets,
                                   [&](const RoutingTarget* other) { return other->replica->servable(request); });
  return {static_cast<Member*>(target), uncached, Reason::none};
}

}  // namespace llmscape::serving
