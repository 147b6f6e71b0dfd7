// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway/kv_transfers.hpp"

#include <utility>
#include <vector>

namespace llmscape::serving {

void KvTransfers::begin(const OpenCall& call, std::size_t from) {
  transfers_[call.request.id] = {call.request.gateway_slot, from};
}

bool KvTransfers::between_replicas(const OpenCall& call) const {
  const auto found = transfers_.find(call.request.id);
  return found != transfers_.end() && found->second.prefilled;
}

KvTransfers::Transfer KvTransfers::take(const OpenCall& call) { return transfers_.extract(call.request.id).mapped(); }

void KvTransfers::forget(const OpenCall& call, std::size_t replica, Seconds now) {
  parts_.state.replica(replica).forget(call.request.id, now);
  parts_.fleet.charge(replica, call, -1, now);
  parts_.state.ring(replica);  // its blocks are free from now on
}

void KvTransfers::release(const OpenCall& call, std::size_t replica, Seconds now) {
  parts_.state.replica(replica).release(call.request.id, now);
  parts_.state.ring(replica);
}

void KvTransfers::handle(OpenCall& call, const Report& report) {
  Transfer& transfer = transfers_.at(call.request.id);
  switch (report.what) {
    case Report::What::prompt_start:
      if (by_layer_) expect(call, transfer, report.at);
      break;
    case Report::What::reserved: start_moving(call, transfer, report.tokens, report.at); break;
    case Report::What::arrived:
      transfer.arrived = true;
      if (transfer.prefilled) join(call, report.at);
      break;
    case Report::What::lost: recompute(call, report.at); break;
    case Report::What::outcome:
      if (report.outcome == Outcome::completed) {
        transfer.prefilled = true;
        if (!call.unwanted) {
          if (!transfer.expected) expect(call, transfer, report.at);
          else if (transfer.arrived) join(call, report.at);
          return;
        }
      }
      abandon(call, report.at);
      parts_.flow.answer(call, call.ends_with(report.outcome), report.at);
      break;
  }
}

void KvTransfers::expect(OpenCall& call, Seconds now) { expect(call, transfers_.at(call.request.id), now); }

void KvTransfers::expect(OpenCall& call, Transfer& transfer, Seconds now) {
  if (call.unwanted) return;  // given up while its prompt was computed: answered when the replica has left it
  Request& request = call.request;
  const Placer::Choice choice = parts_.placer.choose(true, request, now);
  if (!choice.replica) {
    const bool hopeless = choice.reason != Reason::none;
    if (hopeless && !transfer.prefilled) return;  // told when the prompt is done, if it still is
    if (hopeless) return parts_.flow.reject(call, Outcome::failed, choice.reason, now);
    if (!transfer.prefilled || !parts_.state.members[transfer.from].converts())
      return parts_.flow.wait_for_replica(call, now);
    // A replica that is to become a decoder, perhaps the one that is waited for, would never be drained.
    release(call, transfer.from, now);
    return parts_.flow.retry(call, now);
  }
  parts_.flow.stop_waiting(call);
  if (transfer.prefilled && !request.answered()) request.clock.enter(RequestPhase::moving, now);
  transfer.to = *choice.replica;
  transfer.expected = true;
  ++request.asked;
  parts_.fleet.charge(transfer.to, call, +1, now);
  parts_.state.replica(transfer.to).expect(request, now);
  parts_.state.ring(transfer.to);
}

void KvTransfers::start_moving(const OpenCall& call, Transfer& transfer, std::int64_t tokens, Seconds now) {
  const Bytes bytes =
      parts_.state.pool_of(transfer.to).kv_copies * parts_.state.pool_of(transfer.from).kv_bytes(tokens);
  ++moving_;
  transfer.lose = move_(transfer.from, transfer.to, bytes, now,
                        [this, call = ref(call.request), asked = call.request.asked](bool arrived, Seconds at) {
                          --moving_;
                          parts_.reports.add({arrived ? Report::What::arrived : Report::What::lost, at, call, asked});
                        });
}

void KvTransfers::join(OpenCall& call, Seconds now) {
  const Transfer transfer = take(call);
  call.request.replica = static_cast<int>(transfer.to);
  parts_.state.replica(transfer.from).release(call.request.id, now);
  parts_.state.replica(transfer.to).join(call.request, now);
  parts_.fleet.charge(transfer.from, call, -1, now);
  parts_.state.ring(transfer.from);
  parts_.state.ring(transfer.to);
}

// The entries were lost on their way: the decoding replica computes the prompt itself, as after a preemption; or blocks
// are reserved again when the prompt is done.
void KvTransfers::recompute(OpenCall& call, Seconds now) {
  if (Transfer& transfer = transfers_.at(call.request.id); !transfer.prefilled) {
    transfer.expected = false;
    return forget(call, transfer.to, now);
  }
  const Transfer transfer = take(call);
  Request& request = call.request;
  request.replica = static_cast<int>(transfer.to);
  if (!request.answered()) lost_tokens_ += request.lose_answer();  // the first token was to come with the entries
  parts_.state.replica(transfer.from).release(request.id, now);
  parts_.state.replica(transfer.to).forget(request.id, now);
  parts_.state.replica(transfer.to).submit(request, false, now);
  parts_.fleet.charge(transfer.from, call, -1, now);
  parts_.state.ring(transfer.from);
  parts_.state.ring(transfer.to);
}

// The call ends before it has passed on.
void KvTransfers::abandon(OpenCall& call, Seconds now) {
  const Transfer transfer = take(call);
  if (transfer.lose) transfer.lose(now);  // blocks that nobody holds are not read
  if (transfer.expected) forget(call, transfer.to, now);
  if (transfer.prefilled) release(call, transfer.from, now);
}

void KvTransfers::withdraw(OpenCall& call, Seconds now) {
  if (!contains(call)) return;
  const Transfer transfer = take(call);
  if (transfer.lose) transfer.lose(now);
  if (transfer.expected) forget(call, transfer.to, now);
}

void KvTransfers::on_lost(std::size_t replica, std::set<std::size_t>& places, Seconds now) {
  std::vector<OpenCall*> to_ask;
  for (auto& [id, transfer] : transfers_) {
    if (transfer.lose && (transfer.from == replica || transfer.to == replica)) std::exchange(transfer.lose, {})(now);
    if (transfer.from == replica) {
      places.insert(transfer.place);
    } else if (transfer.expected && transfer.to == replica) {
      OpenCall& call = *parts_.calls.find({transfer.place, id});
      transfer.expected = transfer.arrived = false;
      ++call.request.asked;
      parts_.fleet.charge(replica, call, -1, now);
      if (transfer.prefilled || by_layer_) to_ask.push_back(&call);
    }
  }
  for (OpenCall* call : to_ask) expect(*call, now);
}

}  // namespace llmscape::serving
