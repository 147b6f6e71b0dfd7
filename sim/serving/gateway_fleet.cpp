// SPDX-License-Identifier: Apache-2.0
// How replicas come, go, change their pool and are lost, and what becomes of the calls that were on them.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/serving/gateway.hpp"

namespace llmscape::serving {
namespace {

bool switched_on(Availability availability) {
  return availability == Availability::serving || availability == Availability::loading ||
         availability == Availability::draining;
}

Availability at_rest(int holds, bool for_good) {
  if (for_good) return Availability::lost;
  return holds > 0 ? Availability::down : Availability::off;
}

// The replica of this member serves nobody until it is mended.
void take_out(auto& member, bool for_good) {
  ++member.holds;
  member.for_good = member.for_good || for_good;
  member.conversion = kNever;
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
      case Availability::down: ++load.down; break;
      case Availability::lost: break;
    }
    load.requests += member.outstanding_requests;
    load.tokens += member.outstanding_tokens;
  }
  for (const Held& held : unplaced_) {
    const Call& call = calls_[held.call];
    if (takes(pools_[pool], call.request.replica >= 0, call.request, call.uncached)) ++load.waiting;
  }
  return load;
}

// What a replica has done since its last change; one that was not to serve anyway was off, whatever happened to it.
void Gateway::spend(PoolHistory& history, const Member& member, Seconds until) {
  const bool off = !member.wanted && !switched_on(member.availability);
  const Availability as = off ? Availability::off : member.availability;
  history.spent[static_cast<std::size_t>(as)] += until - member.since;
}

void Gateway::set_availability(Member& member, Availability availability, Seconds now) {
  spend(pools_[member.pool].history, member, now);
  member.since = now;
  const bool was_on = switched_on(member.availability), is_on = switched_on(availability);
  if (was_on && !is_on) member.provisioned.switch_off(now);
  if (!was_on && is_on) member.provisioned.switch_on(now);
  member.availability = availability;
  refresh_targets();
  listener_.on_availability(member.index, availability, now);
}

PoolHistory Gateway::history(std::size_t pool, Seconds end) const {
  PoolHistory history = pools_[pool].history;
  for (const Member& member : members_)
    if (member.pool == pool) spend(history, member, end);
  return history;
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

// Whether calls may wait for it.
bool Gateway::returns(const Member& member) const {
  if (member.for_good) return false;
  return member.wanted || std::ranges::any_of(config_.controllers, [&](const Controller* controller) {
           return controller->starts(*this, member.index);
         });
}

const Gateway::PoolState& Gateway::future_pool(const Member& member) const {
  return pools_[member.conversion < kNever ? member.next_pool : member.pool];
}

void Gateway::begin_loading(Member& member, Seconds ready, Seconds now) {
  member.ready = ready;
  loading_.insert({ready, member.index});
  set_availability(member, Availability::loading, now);
}

void Gateway::start(std::size_t replica, Seconds ready, Seconds now) {
  Member& member = members_[replica];
  require(member.availability == Availability::off, "only a replica that is off can be started");
  ++pools_[member.pool].history.starts;
  begin_loading(member, ready, now);
  member.wanted = true;
}

void Gateway::make_ready(Seconds now) {
  while (next_ready() <= now) {
    Member& member = members_[loading_.begin()->second];
    loading_.erase(loading_.begin());
    set_availability(member, Availability::serving, now);
  }
  send_waiting(now);
}

void Gateway::leave_when_drained(Member& member, Seconds now) {
  set_availability(member, Availability::draining, now);
  if (member.outstanding_requests == 0) drained(member, now);
}

void Gateway::drain(std::size_t replica, Seconds now) {
  Member& member = members_[replica];
  require(member.availability == Availability::serving, "only a replica that serves can be drained");
  ++pools_[member.pool].history.drains;
  member.wanted = false;
  leave_when_drained(member, now);
}

void Gateway::convert(std::size_t replica, std::size_t pool, Seconds takes, Seconds now) {
  Member& member = members_[replica];
  require(member.availability == Availability::serving, "only a replica that serves can be converted");
  require(pools_[pool].model == pools_[member.pool].model, "a replica is converted to another model's pool");
  ++pools_[member.pool].history.conversions;
  member.next_pool = pool;
  member.conversion = takes;
  leave_when_drained(member, now);
}

void Gateway::split_by_length(std::size_t shorter, std::size_t longer, std::int64_t tokens, Seconds) {
  require(tokens >= 0, "a threshold is not below 0");
  pools_[shorter].accepts.up_to = tokens;
  pools_[longer].accepts.longer_than = tokens;
  by_length_ = true;
}

// It has answered everything: its cache is all that is on it, and stays if it is converted.
void Gateway::drained(Member& member, Seconds now) {
  const Seconds conversion = std::exchange(member.conversion, kNever);
  if (conversion < kNever) {
    begin_loading(member, now + conversion, now);
    member.pool = member.next_pool;
    return;
  }
  member.replica->crash(now);
  set_availability(member, at_rest(member.holds, member.for_good), now);
}

void Gateway::hold(std::size_t replica, bool for_good, Seconds now) {
  Member& member = members_[replica];
  ++pools_[member.pool].history.drains;
  take_out(member, for_good);
  if (member.availability == Availability::serving) {
    leave_when_drained(member, now);
  } else if (member.availability != Availability::draining) {
    loading_.erase({member.ready, replica});
    set_availability(member, at_rest(member.holds, member.for_good), now);
  }
}

void Gateway::lose(std::size_t replica, bool for_good, Seconds now) {
  Member& member = members_[replica];
  ++pools_[member.pool].history.losses;
  take_out(member, for_good);
  loading_.erase({member.ready, replica});
  set_availability(member, at_rest(member.holds, member.for_good), now);
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

void Gateway::mend(std::size_t replica, Seconds takes, Seconds now) {
  Member& member = members_[replica];
  require(member.holds > 0, "only a replica that was held or lost can be mended");
  if (--member.holds > 0 || member.for_good) return;
  if (member.availability == Availability::draining) {
    if (member.wanted) set_availability(member, Availability::serving, now);
  } else if (member.wanted) {
    ++pools_[member.pool].history.starts;
    begin_loading(member, now + takes, now);
  } else {
    set_availability(member, Availability::off, now);
  }
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
  call.announced = false;
  charge(static_cast<std::size_t>(request.replica), request, -1, now);
  --sent_requests_;
  request.replica = -1;
  request.hand_over = false;
  request.state = Request::State::waiting;
  request.schedule = request.first_token = request.last_token = kNever;
  request.clock.start_anew(RequestPhase::lost, request.arrival, now);
  request.computed = 0;
  request.kv_ready = Seconds();
  if (request.versioned && !request.complete) set_prompt(request, versions_of(call), call.read_versions, now);
  request.sought_below = false;
  request.fetched_from = request.fetched_to = 0;
  ++begun_anew_;
  lost_tokens_ += request.emitted;
  request.lost += std::exchange(request.emitted, 0);
  ++request.attempt;
  ++request.asked;  // entries that are on their way are for nobody
  if (call.unwanted) return answer(place, *call.unwanted, now);
  if (request.attempt > config_.retries) return reject(call, Outcome::failed, Reason::replica_lost, now);
  admit(place, now);
}

// A controller that acts at intervals must not hide that nothing else will ever happen.
void Gateway::check_that_something_comes() {
  if (open_requests_ == 0 || !unplaced_.empty() || !due_.empty() || !deadlines_.empty() || !read_.empty()) return;
  if (!versions_.empty()) return;
  if (moves_ > 0 || std::min({next_ready(), programs_.next_event(), generator_.next_start()}) < kNever) return;
  for (const Member& member : members_)
    if (member.replica->next_event() < kNever) return;
  throw std::logic_error("INV-1: " + std::to_string(open_requests_) + " calls are open and nobody goes on with them");
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
