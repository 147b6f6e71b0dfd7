// SPDX-License-Identifier: Apache-2.0
// How replicas come, go, change their pool and are lost, and what becomes of the calls that were on them.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/serving/gateway.hpp"

namespace llmscape::serving {
namespace {

bool switched_on(Availability availability) {
  return availability != Availability::off && availability != Availability::lost;
}

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

}  // namespace

PoolLoad Gateway::load(std::size_t pool) const {
  PoolLoad load;
  load.role = pools_[pool].role;
  for (const Member& member : members_) {
    if (member.pool != pool) continue;
    switch (member.availability) {
      case Availability::serving: ++load.serving; break;
      case Availability::loading: ++load.loading; break;
      case Availability::draining: ++load.draining; break;
      case Availability::off: ++load.off; break;
      case Availability::lost: break;
    }
    load.requests += member.outstanding_requests;
    load.tokens += member.outstanding_tokens;
  }
  for (const Held& held : unplaced_) {
    const Request& request = calls_[held.call].request;
    if (takes(pools_[pool], request.replica >= 0, request, request.prompt_tokens)) ++load.waiting;
  }
  return load;
}

void Gateway::set_availability(Member& member, Availability availability, Seconds now) {
  const bool was_on = switched_on(member.availability), is_on = switched_on(availability);
  if (was_on && !is_on) member.provisioned.switch_off(now);
  if (!was_on && is_on) member.provisioned.switch_on(now);
  member.availability = availability;
  refresh_targets();
}

void Gateway::refresh_targets() {
  for (PoolState& pool : pools_) pool.targets.clear();
  for (Member& member : members_)
    if (member.availability == Availability::serving) pools_[member.pool].targets.push_back(&member);
}

Seconds Gateway::next_ready() const { return loading_.empty() ? kNever : loading_.begin()->first; }

Seconds Gateway::next_control() const {
  Seconds next = kNever;
  for (const Controller* controller : config_.controllers) next = std::min(next, controller->next_event());
  return next;
}

void Gateway::start(std::size_t replica, Seconds ready, Seconds now) {
  Member& member = members_[replica];
  require(member.availability == Availability::off, "only a replica that is off can be started");
  member.ready = ready;
  loading_.insert({ready, replica});
  set_availability(member, Availability::loading, now);
}

void Gateway::make_ready(Seconds now) {
  while (next_ready() <= now) {
    Member& member = members_[loading_.begin()->second];
    loading_.erase(loading_.begin());
    set_availability(member, Availability::serving, now);
  }
  send_waiting(now);
}

void Gateway::drain(std::size_t replica, Seconds now) {
  Member& member = members_[replica];
  require(member.availability == Availability::serving, "only a replica that serves can be drained");
  member.conversion = kNever;
  set_availability(member, Availability::draining, now);
  if (member.outstanding_requests == 0) drained(member, now);
}

void Gateway::convert(std::size_t replica, std::size_t pool, Seconds takes, Seconds now) {
  Member& member = members_[replica];
  require(member.availability == Availability::serving, "only a replica that serves can be converted");
  require(pools_[pool].model == pools_[member.pool].model, "a replica is converted to another model's pool");
  member.next_pool = pool;
  member.conversion = takes;
  set_availability(member, Availability::draining, now);
  if (member.outstanding_requests == 0) drained(member, now);
}

void Gateway::drained(Member& member, Seconds now) {
  if (member.conversion == kNever) {
    member.replica->crash(now);  // nothing is on it but its cache
    set_availability(member, Availability::off, now);
    return;
  }
  member.pool = member.next_pool;
  member.ready = now + member.conversion;
  loading_.insert({member.ready, member.index});
  set_availability(member, Availability::loading, now);
}

void Gateway::lose(std::size_t replica, bool for_good, Seconds now) {
  Member& member = members_[replica];
  if (member.availability == Availability::loading) loading_.erase({member.ready, replica});
  set_availability(member, for_good ? Availability::lost : Availability::off, now);
  std::set<std::size_t> anew;
  for (const Request* request : member.replica->crash(now)) anew.insert(request->gateway_slot);
  std::vector<std::size_t> to_ask;
  for (auto& [id, hand_over] : hand_overs_) {
    if (hand_over.from == replica) {
      anew.insert(hand_over.call);
    } else if (hand_over.expected && hand_over.to == replica) {
      Request& request = calls_[hand_over.call].request;
      hand_over.expected = hand_over.arrived = false;
      ++request.asked;
      charge(replica, request, -1, now);
      if (hand_over.prefilled) to_ask.push_back(hand_over.call);
    }
  }
  for (const std::size_t call : to_ask) expect(calls_[call], hand_overs_.at(calls_[call].request.id), now);
  for (const std::size_t call : anew) begin_anew(call, now);
  ring_(replica);
}

// The client hears nothing more of the answer that broke off: all of it comes again.
void Gateway::begin_anew(std::size_t place, Seconds now) {
  Call& call = calls_[place];
  Request& request = call.request;
  if (const auto found = hand_overs_.find(request.id); found != hand_overs_.end()) {
    const HandOver hand_over = found->second;
    hand_overs_.erase(found);
    if (hand_over.expected) {
      members_[hand_over.to].replica->forget(request.id, now);
      charge(hand_over.to, request, -1, now);
      ring_(hand_over.to);
    }
  }
  if (call.unplaced) stop_waiting(call);
  charge(static_cast<std::size_t>(request.replica), request, -1, now);
  --sent_requests_;
  request.replica = -1;
  request.hand_over = false;
  request.state = Request::State::waiting;
  request.schedule = request.first_token = request.last_token = kNever;
  request.computed = 0;
  request.sought_below = false;
  request.fetched_from = request.fetched_to = 0;
  request.lost += std::exchange(request.emitted, 0);
  ++request.attempt;
  if (call.unwanted) return answer(place, *call.unwanted, now);
  if (request.attempt > config_.retries) return reject(call, Outcome::failed, Reason::replica_lost, now);
  admit(place, now);
}

// Calls for which no replica was there look again.
void Gateway::send_waiting(Seconds now) {
  for (const Held& held : std::exchange(unplaced_, {})) {
    Call& call = calls_[held.call];
    call.unplaced = false;
    const auto found = hand_overs_.find(held.request);
    if (found != hand_overs_.end()) expect(call, found->second, now);
    else admit(held.call, now);
  }
}

}  // namespace llmscape::serving
