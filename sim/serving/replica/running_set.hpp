// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "sim/serving/replica/adapters.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::serving {

// The sequences that hold a slot of an engine, in order of admission: prefilling, decoding, and finished ones whose
// last step has not ended; with the adapters that they use. Slots may also be kept for sequences whose KV entries are
// on their way here.
class RunningSet {
 public:
  // `resident_adapters`: see AdapterSlots.
  explicit RunningSet(std::int64_t resident_adapters) : adapters_(resident_adapters) {}

  // Slots that are taken, those that are kept included.
  [[nodiscard]] std::int64_t size() const { return running_ + kept_; }
  // One more sequence, with this adapter (-1: none), may run where there may be `max_sequences`.
  [[nodiscard]] bool fits(std::int64_t max_sequences, int adapter) const {
    return size() < max_sequences && adapters_.fits(adapter);
  }
  // The sequence admitted last; those before it by Sequence::previous. nullptr: none runs.
  [[nodiscard]] Request* last() const { return last_; }
  [[nodiscard]] const AdapterSlots& adapters() const { return adapters_; }

  void enter(Request& request) {
    Sequence& sequence = request.sequence;
    sequence.previous = last_;
    sequence.next = nullptr;
    if (last_) last_->sequence.next = &request;
    last_ = &request;
    ++running_;
    request.bubble -= bubbles_;
    adapters_.use(sequence.adapter);
  }
  void leave(Request& request) {
    Sequence& sequence = request.sequence;
    if (sequence.previous) sequence.previous->sequence.next = sequence.next;
    if (sequence.next) sequence.next->sequence.previous = sequence.previous;
    if (last_ == &request) last_ = sequence.previous;
    sequence.previous = sequence.next = nullptr;
    --running_;
    request.bubble += bubbles_;
    adapters_.leave(sequence.adapter);
  }
  // A slot for a sequence that will come with its KV entries, and its adapter; it has come, or will not.
  void keep_slot(int adapter) {
    ++kept_;
    adapters_.use(adapter);
  }
  void free_slot(int adapter) {
    --kept_;
    adapters_.leave(adapter);
  }
  // The stages of the engine's pipeline idled for so long, all together, before a step: every sequence that runs counts
  // it as Request::bubble.
  void count_bubble(Seconds idle) { bubbles_ += idle; }
  // No adapter is held any more. Nothing runs.
  void forget_adapters() { adapters_.forget(); }
  // The memory that adapters lie in is taken for something else while nothing is computed.
  void evict_adapters() { adapters_.evict(); }

 private:
  AdapterSlots adapters_;
  std::int64_t running_ = 0;
  std::int64_t kept_ = 0;
  Request* last_ = nullptr;
  Seconds bubbles_;  // of all steps so far
};

}  // namespace llmscape::serving
