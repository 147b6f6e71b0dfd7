// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway/fleet_manager.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/serving/gateway/placer.hpp"

namespace llmscape::serving {
namespace {

bool switched_on(Availability availability) {
  return availability == Availability::serving || availability == Availability::loading ||
         availability == Availability::draining;
}

// Of one that is to serve when it is repaired, the machine stays: it is rented, and its other devices are idle.
bool kept_on(const Member& member, Availability availability) {
  return switched_on(availability) || (availability == Availability::down && member.wanted);
}

Availability at_rest(int cordons, bool for_good) {
  if (for_good) return Availability::lost;
  return cordons > 0 ? Availability::down : Availability::off;
}

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

}  // namespace

PoolLoad FleetManager::load(std::size_t pool) const {
  PoolLoad load;
  load.role = state_.pools[pool].role;
  for (const Member& member : state_.members) {
    if (member.pool != pool) continue;
    switch (member.availability) {
      case Availability::serving: ++load.serving; break;
      case Availability::loading: ++load.loading; break;
      case Availability::draining: ++load.draining; break;
      case Availability::off: ++load.off; break;
      case Availability::down: ++load.down; break;
      case Availability::lost: break;
    }
    load.requests += member.outstanding_requests;
    load.tokens += member.outstanding_tokens;
  }
  for (const WaitingCalls* waiting : {&unplaced_, &held_})
    waiting->visit([&](const OpenCall& call) {
      if (takes(state_.pools[pool], call.request.replica >= 0, call.request,
                call.uncached.value_or(call.prompt_tokens)))
        ++load.waiting;
    });
  return load;
}

void FleetManager::charge(std::size_t replica, const OpenCall& call, std::int64_t sign, Seconds now) {
  Member& charged = state_.members[replica];
  charged.outstanding_requests += sign;
  charged.outstanding_tokens += sign * (call.prompt_tokens + call.request.output_tokens);
  state_.pools[charged.pool].router->on_charge(charged);
  if (charged.outstanding_requests == 0 && charged.availability == Availability::draining) on_drained(charged, now);
}

void FleetManager::settle(Seconds at) {
  for (Member& member : state_.members) member.replica->settle(at);
}

bool FleetManager::works() const {
  return std::ranges::any_of(state_.members,
                             [](const Member& member) { return member.replica->next_event() < kNever; });
}

// What a replica has done since its last change; one that was not to serve anyway was off, whatever happened to it.
void FleetManager::spend(PoolHistory& history, const Member& member, Seconds until) {
  const bool off = !member.wanted && !switched_on(member.availability);
  const Availability as = off ? Availability::off : member.availability;
  history.spent[static_cast<std::size_t>(as)] += until - member.since;
}

void FleetManager::set_availability(Member& member, Availability availability, Seconds now) {
  spend(state_.pools[member.pool].history, member, now);
  member.since = now;
  const bool was_on = kept_on(member, member.availability), is_on = kept_on(member, availability);
  if (was_on && !is_on) member.provisioned.switch_off(now);
  if (!was_on && is_on) member.provisioned.switch_on(now);
  member.availability = availability;
  state_.refresh_targets();
  hooks_.on_availability(member.index, availability, now);
}

PoolHistory FleetManager::history(std::size_t pool, Seconds end) const {
  PoolHistory history = state_.pools[pool].history;
  for (const Member& member : state_.members)
    if (member.pool == pool) spend(history, member, end);
  return history;
}

void FleetManager::begin_loading(Member& member, Seconds ready, Seconds now) {
  member.ready = ready;
  loading_.insert({ready, member.index});
  set_availability(member, Availability::loading, now);
}

void FleetManager::start(std::size_t replica, Seconds ready, Seconds now) {
  Member& member = state_.members[replica];
  require(member.availability == Availability::off, "only a replica that is off can be started");
  ++state_.pools[member.pool].history.starts;
  begin_loading(member, ready, now);
  member.wanted = true;
}

void FleetManager::run(Seconds now) {
  while (next_event() <= now) {
    Member& member = state_.members[loading_.begin()->second];
    loading_.erase(loading_.begin());
    set_availability(member, Availability::serving, now);
  }
  hooks_.on_ready(now);
}

void FleetManager::leave_when_drained(Member& member, Seconds now) {
  set_availability(member, Availability::draining, now);
  if (member.outstanding_requests == 0) on_drained(member, now);
}

void FleetManager::drain(std::size_t replica, Seconds now) {
  Member& member = state_.members[replica];
  require(member.availability == Availability::serving, "only a replica that serves can be drained");
  ++state_.pools[member.pool].history.drains;
  member.wanted = false;
  leave_when_drained(member, now);
}

void FleetManager::convert(std::size_t replica, std::size_t pool, Seconds takes, Seconds now) {
  Member& member = state_.members[replica];
  require(member.availability == Availability::serving, "only a replica that serves can be converted");
  require(state_.pools[pool].model == state_.pools[member.pool].model,
          "a replica is converted to another model's pool");
  ++state_.pools[member.pool].history.conversions;
  member.next_pool = pool;
  member.conversion = takes;
  leave_when_drained(member, now);
}

void FleetManager::split_by_length(std::size_t shorter, std::size_t longer, std::int64_t tokens, Seconds) {
  require(tokens >= 0, "a threshold is not below 0");
  state_.pools[shorter].accepts.up_to = tokens;
  state_.pools[longer].accepts.longer_than = tokens;
  state_.by_length = true;
}

// It has answered everything: its cache is all that is on it, and stays if it is converted.
void FleetManager::on_drained(Member& member, Seconds now) {
  const Seconds conversion = std::exchange(member.conversion, kNever);
  if (conversion < kNever) {
    begin_loading(member, now + conversion, now);
    member.pool = member.next_pool;
    return;
  }
  member.replica->crash(now);
  set_availability(member, at_rest(member.cordons, member.for_good), now);
}

// The replica of this member serves nobody until it is repaired.
void FleetManager::take_out(Member& member, bool for_good) {
  ++member.cordons;
  member.for_good = member.for_good || for_good;
  member.conversion = kNever;
}

void FleetManager::cordon(std::size_t replica, bool for_good, Seconds now) {
  Member& member = state_.members[replica];
  // One that is away, or leaves already, is not taken away once more.
  const bool leaves = member.availability == Availability::draining && !member.converts();
  if (switched_on(member.availability) && !leaves) ++state_.pools[member.pool].history.drains;
  take_out(member, for_good);
  if (member.availability == Availability::serving) {
    leave_when_drained(member, now);
  } else if (member.availability != Availability::draining) {
    loading_.erase({member.ready, replica});
    set_availability(member, at_rest(member.cordons, member.for_good), now);
  }
}

void FleetManager::lose(std::size_t replica, bool for_good, Seconds now) {
  Member& member = state_.members[replica];
  if (switched_on(member.availability)) ++state_.pools[member.pool].history.losses;
  take_out(member, for_good);
  loading_.erase({member.ready, replica});
  set_availability(member, at_rest(member.cordons, member.for_good), now);
  hooks_.on_lost(replica, member.replica->crash(now), now);
  state_.ring(replica);
}

void FleetManager::repair(std::size_t replica, Seconds takes, Seconds now) {
  Member& member = state_.members[replica];
  require(member.cordons > 0, "only a replica that was cordoned or lost can be repaired");
  if (--member.cordons > 0 || member.for_good) return;
  if (member.availability == Availability::draining) {
    if (member.wanted) set_availability(member, Availability::serving, now);
  } else if (member.wanted) {
    ++state_.pools[member.pool].history.starts;
    begin_loading(member, now + takes, now);
  } else {
    set_availability(member, Availability::off, now);
  }
}

}  // namespace llmscape::serving
