// SPDX-License-Identifier: Apache-2.0
// How a call passes from the replica that computes its prompt to the one that decodes: room first, then its KV entries,
// then the call itself. Entries that go layer by layer start with the prompt, so that the whole takes the longer of the
// two.
#include <utility>

#include "sim/serving/gateway.hpp"

namespace llmscape::serving {

void Gateway::on_prompt_start(Request& request, Seconds at) {
  due_.push_back({Due::What::prompt_start, at, request.gateway_slot, request.id, {}, 0});
}

void Gateway::on_reserved(Request& request, std::int64_t tokens, Seconds at) {
  due_.push_back({Due::What::reserved, at, request.gateway_slot, request.id, {}, tokens});
}

bool Gateway::decodable(const Request& request) const {
  for (const PoolState& pool : pools_)
    for (const RoutingTarget& target : pool.targets)
      if (pool.role == Role::decode && target.replica->servable(request)) return true;
  return false;
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

// The router's choice, or the first that can hold the request at all.
void Gateway::expect(Call& call, HandOver& hand_over, Seconds now) {
  RoutingTarget* chosen = choose(Role::decode, call.request, now);
  for (PoolState& pool : pools_)
    for (RoutingTarget& other : pool.targets)
      if (pool.role == Role::decode && !chosen->replica->servable(call.request)) chosen = &other;
  hand_over.to = chosen->index;
  hand_over.expected = true;
  charge(hand_over.to, call.request, +1);
  chosen->replica->expect(call.request, now);
  ring_(hand_over.to);
}

void Gateway::start_moving(Call& call, HandOver& hand_over, std::int64_t tokens, Seconds now) {
  const Bytes bytes = static_cast<double>(tokens) * pools_[places_[hand_over.from].first].kv_per_token;
  const std::size_t place = call.request.gateway_slot;
  const std::uint64_t id = call.request.id;
  config_.move_kv(hand_over.from, hand_over.to, bytes, now, [this, place, id](bool arrived, Seconds at) {
    due_.push_back({arrived ? Due::What::arrived : Due::What::lost, at, place, id, {}, 0});
  });
}

void Gateway::finish_prompt(Call& call, HandOver& hand_over, Seconds now) {
  if (!hand_over.expected) return expect(call, hand_over, now);
  if (hand_over.arrived) join(call, hand_over, now);
}

void Gateway::join(Call& call, const HandOver& hand_over, Seconds now) {
  const auto [from, to] = std::pair{hand_over.from, hand_over.to};
  hand_overs_.erase(call.request.id);
  charge(from, call.request, -1);
  call.request.replica = static_cast<int>(to);
  target(from).replica->release(call.request.id, now);
  target(to).replica->join(call.request, now);
  ring_(from);
  ring_(to);
}

// The entries were lost on their way: the decoding replica computes the prompt itself, as after a preemption.
void Gateway::recompute(Call& call, const HandOver& hand_over, Seconds now) {
  if (!hand_over.prefilled) {  // ask for room again when the prompt is done
    HandOver& again = hand_overs_.at(call.request.id);
    target(again.to).replica->forget(call.request.id, now);
    charge(again.to, call.request, -1);
    again.expected = false;
    return;
  }
  const auto [from, to] = std::pair{hand_over.from, hand_over.to};
  hand_overs_.erase(call.request.id);
  charge(from, call.request, -1);
  Request& request = call.request;
  request.replica = static_cast<int>(to);
  request.hand_over = false;
  request.computed = 0;
  request.state = Request::State::waiting;
  target(from).replica->release(request.id, now);
  target(to).replica->forget(request.id, now);
  target(to).replica->submit(request, now);
  ring_(from);
  ring_(to);
}

// The call ends before it has passed on.
void Gateway::abandon(Call& call, const HandOver& hand_over, Seconds now) {
  if (hand_over.expected) {
    charge(hand_over.to, call.request, -1);
    target(hand_over.to).replica->forget(call.request.id, now);
    ring_(hand_over.to);
  }
  if (hand_over.prefilled) {
    target(hand_over.from).replica->release(call.request.id, now);
    ring_(hand_over.from);
  }
  hand_overs_.erase(call.request.id);
}

}  // namespace llmscape::serving
