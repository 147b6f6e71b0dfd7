// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/kv_exchange.hpp"

#include <iterator>
#include <utility>

namespace llmscape::serving {

void KvExchange::expect(Request& request, std::uint64_t request_id, int adapter) {
  auto behind = expected_.end();
  while (behind != expected_.begin() && std::prev(behind)->priority > request.priority) --behind;
  expected_.insert(behind, {&request, request_id, request.priority, adapter, 0, {}});
}

const KvImport* KvExchange::reserve_next() {
  if (expected_.empty()) return nullptr;
  KvImport& next = expected_.front();
  if (!state_.waiting.empty() && state_.waiting.front().priority <= next.priority) return nullptr;
  if (!state_.running.fits(max_sequences_, next.adapter) || !state_.kv.reserve(next)) return nullptr;
  ++state_.counts.touched;
  state_.running.keep_slot(next.adapter);
  const KvImport& reserved = reserved_.emplace(next.id, next).first->second;
  expected_.pop_front();
  return &reserved;
}

void KvExchange::join(std::uint64_t request_id) {
  ++state_.counts.touched;
  KvImport& import = reserved_.at(request_id);
  Request& request = *import.request;
  const std::int64_t computed = request.sequence.computed;
  request.sequence = Sequence{};
  request.sequence.computed = computed;
  if (request.emitted == 0) --request.sequence.computed;  // the last prompt token is computed here, for the first one
  request.sequence.adapter = import.adapter;
  state_.kv.adopt(request, import);
  state_.running.enter(request);
  state_.running.free_slot(import.adapter);  // its own now
  reserved_.erase(request_id);
  if (request.emitted == 0) {
    request.sequence.state = Sequence::State::prefilling;
    state_.prefilling.push_back(&request);
    return;
  }
  state_.decoding.join(request);
  state_.gaps.join(request.latest_token);
}

void KvExchange::drop(KvImport& import) {
  state_.running.free_slot(import.adapter);
  state_.kv.pool.release(import.lease);
}

void KvExchange::forget(std::uint64_t request_id) {
  std::erase_if(expected_, [&](const KvImport& import) { return import.id == request_id; });
  if (const auto found = reserved_.find(request_id); found != reserved_.end()) {
    drop(found->second);
    reserved_.erase(found);
  }
}

void KvExchange::lend(Request& request) {
  ++state_.counts.touched;
  state_.kv.publish(request);
  state_.running.leave(request);
  lent_.emplace(request.id, state_.kv.lend(request));
}

void KvExchange::release(std::uint64_t request_id) {
  state_.kv.pool.release(lent_.at(request_id));
  lent_.erase(request_id);
}

void KvExchange::lose() {
  for (auto& [id, import] : reserved_) drop(import);
  for (auto& [id, lease] : lent_) state_.kv.pool.release(lease);
  expected_.clear();
  reserved_.clear();
  lent_.clear();
}

}  // namespace llmscape::serving
