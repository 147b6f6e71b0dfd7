// SPDX-License-Identifier: Apache-2.0
// How a call passes from the replica that computes its prompt to the one that decodes: room first, then its KV entries,
// then the call itself. Entries that go layer by layer start with the prompt, so that the whole takes the longer of the
// two.
#include <tuple>
#include <utility>

#include "sim/serving/gateway.hpp"

namespace llmscape::serving {

void Gateway::on_prompt_start(Request& request, Seconds at) { report(Due::What::prompt_start, request, at); }

void Gateway::on_reserved(Request& request, std::int64_t tokens, Seconds at) {
  report(Due::What::reserved, request, at, {}, tokens);
}

void Gateway::hand_over(Call& call, HandOver& hand_over, const Due& due) {
  switch (due.what) {
    case Due::What::prompt_start:
      if (config_.move_by_layer) expect(call, hand_over, due.at);
      break;
    case Due::What::reserved: start_moving(call, hand_over, due.tokens, due.at); break;
    case Due::What::arrived:
      hand_over.arrived = true;
      if (hand_over.prefilled) join(call, hand_over, due.at);
      break;
    case Due::What::lost: recompute(call, hand_over, due.at); break;
    case Due::What::outcome:
      if (due.outcome == Outcome::completed) {
        hand_over.prefilled = true;
        if (!call.unwanted) return finish_prompt(call, hand_over, due.at);
      }
      abandon(call, hand_over, due.at);
      answer(due.call, due.outcome == Outcome::completed ? *call.unwanted : due.outcome, due.at);
      break;
  }
}

// Asks a replica for room, or waits for one that could be asked: from when the prompt is computed on.
void Gateway::expect(Call& call, HandOver& hand_over, Seconds now) {
  Request& request = call.request;
  const Choice choice = choose(true, request, now);
  if (!choice.member) {
    if (!hand_over.prefilled) return;
    if (choice.reason == Reason::none) {
      // A replica that is to become a decoder, perhaps the one that is waited for, would never be drained.
      const Member& from = members_[hand_over.from];
      if (from.conversion == kNever) return wait_for_replica(call, now);
      from.replica->release(request.id, now);
      ring_(from.index);
      return begin_anew(request.gateway_slot, now);
    }
    return reject(call, Outcome::failed, choice.reason, now);
  }
  hand_over.to = choice.member->index;
  hand_over.expected = true;
  ++request.asked;
  charge(hand_over.to, request, +1, now);
  choice.member->replica->expect(request, now);
  ring_(hand_over.to);
}

void Gateway::start_moving(Call& call, HandOver& hand_over, std::int64_t tokens, Seconds now) {
  const PoolState& pool = pools_[members_[hand_over.from].pool];
  const Bytes bytes = pool.kv_of_prompt ? pool.kv_of_prompt(tokens) : static_cast<double>(tokens) * pool.kv_per_token;
  const auto [place, id, asked] = std::tuple{call.request.gateway_slot, call.request.id, call.request.asked};
  ++moves_;
  config_.move_kv(hand_over.from, hand_over.to, bytes, now, [this, place, id, asked](bool arrived, Seconds at) {
    --moves_;
    due_.push_back({arrived ? Due::What::arrived : Due::What::lost, at, place, id, asked, {}, 0});
  });
}

void Gateway::finish_prompt(Call& call, HandOver& hand_over, Seconds now) {
  if (!hand_over.expected) return expect(call, hand_over, now);
  if (hand_over.arrived) join(call, hand_over, now);
}

void Gateway::join(Call& call, const HandOver& hand_over, Seconds now) {
  const auto [from, to] = std::pair{hand_over.from, hand_over.to};
  hand_overs_.erase(call.request.id);
  call.request.replica = static_cast<int>(to);
  members_[from].replica->release(call.request.id, now);
  members_[to].replica->join(call.request, now);
  charge(from, call.request, -1, now);
  ring_(from);
  ring_(to);
}

// The entries were lost on their way: the decoding replica computes the prompt itself, as after a preemption.
void Gateway::recompute(Call& call, const HandOver& hand_over, Seconds now) {
  if (!hand_over.prefilled) {  // ask for room again when the prompt is done
    HandOver& again = hand_overs_.at(call.request.id);
    members_[again.to].replica->forget(call.request.id, now);
    again.expected = false;
    charge(again.to, call.request, -1, now);
    ring_(again.to);  // its room is free from now on
    return;
  }
  const auto [from, to] = std::pair{hand_over.from, hand_over.to};
  hand_overs_.erase(call.request.id);
  Request& request = call.request;
  request.replica = static_cast<int>(to);
  request.hand_over = false;
  request.computed = 0;
  request.state = Request::State::waiting;
  members_[from].replica->release(request.id, now);
  members_[to].replica->forget(request.id, now);
  members_[to].replica->submit(request, now);
  charge(from, request, -1, now);
  ring_(from);
  ring_(to);
}

// The call ends before it has passed on.
void Gateway::abandon(Call& call, const HandOver& hand_over, Seconds now) {
  if (hand_over.expected) {
    members_[hand_over.to].replica->forget(call.request.id, now);
    charge(hand_over.to, call.request, -1, now);
    ring_(hand_over.to);
  }
  if (hand_over.prefilled) {
    members_[hand_over.from].replica->release(call.request.id, now);
    ring_(hand_over.from);
  }
  hand_overs_.erase(call.request.id);
}

}  // namespace llmscape::serving
