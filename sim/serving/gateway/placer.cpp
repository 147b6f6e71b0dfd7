// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway/placer.hpp"

#include <algorithm>
#include <iterator>

namespace llmscape::serving {
namespace {

// The replicas of a pool as they would take the call: those of prefill pools compute its prompt alone.
bool serves(const PoolState& pool, const Replica& replica, const Request& request) {
  return replica.servable(request, pool.role == Role::prefill && request.output_tokens > 1);
}

}  // namespace

bool takes(const PoolState& pool, bool to_decode, const Request& request, std::int64_t uncached) {
  if ((pool.role == Role::decode) != to_decode || pool.model != request.model) return false;
  const std::vector<int>& classes = pool.accepts.slo_classes;
  if (!classes.empty() && std::ranges::find(classes, request.slo_class) == classes.end()) return false;
  return to_decode || (uncached > pool.accepts.longer_than && uncached <= pool.accepts.up_to);
}

// Of the prompt, the least that any replica that could compute it has not cached.
std::int64_t Placer::uncached_tokens(const Request& request, Seconds now) {
  if (!state_.by_length) return request.prompt_tokens;
  std::int64_t cached = 0;
  for (const PoolState& pool : state_.pools)
    if (pool.role != Role::decode && pool.model == request.model)
      for (const RoutingTarget* target : pool.targets)
        cached = std::max(cached, target->replica->cached_tokens(request.prompt, request.prompt_tokens, now));
  return request.prompt_tokens - cached;
}

// Whether calls may wait for it.
bool Placer::returns(const Member& member) const {
  if (member.for_good) return false;
  return member.wanted || std::ranges::any_of(controllers_, [&](const Controller* controller) {
           return controller->starts(fleet_, member.index);
         });
}

Reason Placer::hopeless(bool to_decode, const Request& request, std::int64_t uncached) const {
  Reason reason = Reason::not_accepted;
  for (const Member& member : state_.members) {
    const PoolState& pool = state_.pools[member.converts() ? member.next_pool : member.pool];
    if (!takes(pool, to_decode, request, uncached)) continue;
    if (reason == Reason::not_accepted) reason = Reason::too_long;
    if (!serves(pool, *member.replica, request)) continue;
    if (returns(member)) return Reason::none;
    reason = Reason::no_replica;
  }
  return reason;
}

// Those of the pool's targets that can hold the call.
const std::vector<RoutingTarget*>& Placer::able(const PoolState& pool, const Request& request) {
  const auto serve = [&](const RoutingTarget* target) { return serves(pool, *target->replica, request); };
  if (pool.alike && !pool.targets.empty() && serve(pool.targets.front())) return pool.targets;
  able_.clear();
  if (!pool.alike) std::ranges::copy_if(pool.targets, std::back_inserter(able_), serve);
  return able_.size() == pool.targets.size() ? pool.targets : able_;
}

Placer::Choice Placer::choose(bool to_decode, const Request& request, Seconds now) {
  const std::int64_t uncached = to_decode ? 0 : uncached_tokens(request, now);
  PoolState* chosen = nullptr;
  double least = 0;
  for (PoolState& pool : state_.pools) {
    if (!takes(pool, to_decode, request, uncached)) continue;
    const std::vector<RoutingTarget*>& targets = able(pool, request);
    if (targets.empty()) continue;
    if (placement_ == Placement::in_order) {
      chosen = &pool;
      break;
    }
    double tokens = 0;
    for (const RoutingTarget* target : targets) tokens += static_cast<double>(target->outstanding_tokens);
    const double load = tokens / static_cast<double>(targets.size());
    if (chosen && load >= least) continue;
    chosen = &pool;
    least = load;
  }
  if (!chosen) return {{}, uncached, hopeless(to_decode, request, uncached)};
  const std::vector<RoutingTarget*>& targets = able(*chosen, request);
  return {targets[chosen->router->choose(request, targets, now)]->index, uncached, Reason::none};
}

}  // namespace llmscape::serving
