// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway/admission.hpp"

namespace llmscape::serving {

Admission::Answer Admission::ask(OpenCall& call, std::int64_t unplaced) {
  call.stands = OpenCall::Stands::admitted;
  if (!full()) return Answer::send;
  if (!call.let_wait && too_many(unplaced)) return Answer::drop;
  call.let_wait = true;
  call.stands = OpenCall::Stands::admission;
  waiting_.add(call);
  return Answer::wait;
}

void Admission::give_up(OpenCall& call) {
  waiting_.erase(call);
  call.stands = OpenCall::Stands::admitted;
}

OpenCall* Admission::next() {
  if (waiting_.empty() || full()) return nullptr;
  OpenCall& call = waiting_.take_first();
  call.stands = OpenCall::Stands::admitted;
  return &call;
}

}  // namespace llmscape::serving
