// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <span>
#include <vector>

#include "models/batch.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::serving {

// The sequences that decode, as aggregates. Each computes one token per decode step, so every context is an offset plus
// the number of steps taken: sums and maxima advance by themselves, and a step costs nothing per sequence. What happens
// to one sequence at a known step (it ends, it crosses a window, it needs a block) waits under that step.
class DecodeSet {
 public:
  // `laws`: the model's KV laws (models::kv_laws): 0 for full attention, else a window.
  DecodeSet(const std::vector<std::int64_t>& laws, int block_tokens);

  [[nodiscard]] std::int64_t size() const { return size_; }
  // Decode steps taken so far.
  [[nodiscard]] std::int64_t step() const { return step_; }

  // Joins with request.computed tokens in the cache and request.emitted answered, before its next decode step.
  void join(Request& request);
  // Leaves before it ends; request.computed and request.emitted are brought up to date.
  void leave(Request& request);

  // What the decode step `ahead` steps from now attends to: contexts with the new token, one entry for each law.
  // `ahead` must not exceed steps_to_crossing().
  [[nodiscard]] std::span<const models::Attended> attended(std::int64_t ahead = 0);
  // KV blocks that the step `ahead` steps from now starts.
  [[nodiscard]] std::int64_t blocks_needed(std::int64_t ahead = 0) const {
    return starts_block_[static_cast<std::size_t>((step_ + ahead) % block_tokens_)];
  }
  // Tokens that all of them together have still to answer.
  [[nodiscard]] std::int64_t tokens_to_finish() const { return ends_sum_ - size_ * step_; }
  // Steps until the first sequence ends, that step included: at least 1. Very large when empty.
  [[nodiscard]] std::int64_t steps_to_finish();
  // Steps for which the aggregates advance evenly: no sequence grows beyond a window before.
  [[nodiscard]] std::int64_t steps_to_crossing() const;

  // One decode step is planned: every sequence grows by a token. Those that end with it leave and are added to
  // `finished`, in order of joining.
  void advance(std::vector<Request*>& finished);

  // Entries touched by join, leave and the ends of sequences: what a step costs beyond a constant. For the test of
  // O(1).
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  struct Ending {
    std::int64_t step;
    std::uint64_t order;
    std::int32_t slot;
    bool operator>(const Ending& o) const { return step != o.step ? step > o.step : order > o.order; }
  };
  struct Slot {
    Request* request = nullptr;
    std::uint64_t order = 0;  // tells a stale ending from a live one
  };
  struct Window {
    std::int64_t size;
    std::int64_t inside = 0;      // sequences whose next context still fits
    std::int64_t inside_sum = 0;  // of their offsets
  };
  void remove(Request& request);
  [[nodiscard]] bool inside(const Window& w, std::int64_t offset) const { return offset + step_ + 1 <= w.size; }

  std::int64_t block_tokens_;
  bool full_ = false;  // the first law is full attention
  std::vector<Window> windows_;
  std::vector<models::Attended> attended_;
  std::vector<std::int64_t> starts_block_;  // sequences by the step (modulo block_tokens) at which they start a block
  std::map<std::int64_t, std::int64_t> offsets_;  // context - step at joining: how many sequences have it
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  std::vector<Slot> slots_;
  std::vector<std::int32_t> spare_slots_;
  std::int64_t size_ = 0;
  std::int64_t step_ = 0;
  std::int64_t offset_sum_ = 0;
  std::int64_t ends_sum_ = 0;  // of the steps at which they end
  std::uint64_t next_order_ = 1;
  std::int64_t work_ = 0;
};

}  // namespace llmscape::serving
