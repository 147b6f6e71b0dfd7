// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway/call_table.hpp"

#include <utility>

namespace llmscape::serving {

OpenCall& CallTable::add() {
  if (spare_.empty()) {
    spare_.push_back(calls_.size());
    calls_.emplace_back();
  }
  const std::size_t place = spare_.back();
  spare_.pop_back();
  OpenCall& call = calls_[place];
  Prompt prompt = std::move(call.request.prompt);
  call = OpenCall{};
  prompt.clear();
  call.request.prompt = std::move(prompt);  // its memory stays
  call.open = true;
  call.request.id = next_id_++;
  call.request.gateway_slot = place;
  ++ended_.injected;
  ++open_;
  return call;
}

void CallTable::close(OpenCall& call, Outcome outcome) {
  call.open = false;
  ended_.count(outcome);
  --open_;
  spare_.push_back(call.request.gateway_slot);
}

void CallTable::for_each_open(const std::function<void(const Request&)>& fn) const {
  for (const OpenCall& call : calls_)
    if (call.open) fn(call.request);
}

Counters CallTable::counters() const {
  Counters now = ended_;
  for_each_open([&](const Request& request) {
    if (request.replica < 0) {
      ++now.waiting;
    } else if (request.sequence.state == Sequence::State::waiting) {
      ++now.queued;
    } else {
      ++now.running;
    }
  });
  return now;
}

}  // namespace llmscape::serving
