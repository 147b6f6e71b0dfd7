// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <boost/container/flat_map.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "models/batch.hpp"
#include "sim/serving/replica/per_law.hpp"
#include "sim/serving/replica/speculation.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::serving {

// Sequences that decode alike, as aggregates. Each answers one token per decode step, so every context is an offset
// plus the number of steps taken: sums and maxima advance by themselves, and a step costs nothing per sequence. What
// happens to one sequence at a known step (it ends, it crosses a window, it needs a block) waits under that step.
//
// Under speculation every context grows by the mean number of tokens of a pass, while each sequence leaves with the
// pass drawn for it. What one has answered on the way is that mean too, within what its end allows: at least a token
// a pass, at most all that were computed.
class DecodeCohort {
 public:
  // `laws`: the model's KV laws (models::kv_laws): 0 for full attention, else a window. `ring`: entries beyond which a
  // sequence takes no more blocks, as new ones replace old ones; 0: none.
  DecodeCohort(const std::vector<std::int64_t>& laws, int block_tokens, const Speculation& speculation = {},
               std::int64_t ring = 0);

  [[nodiscard]] std::int64_t size() const { return size_; }
  // Decode steps taken so far.
  [[nodiscard]] std::int64_t step() const { return step_; }

  // Joins with request.sequence.entries() in the cache, KV blocks for request.sequence.allocated and
  // request.emitted answered, before its next decode step: answers `tokens` in `passes` steps, at least one of each,
  // and leaves with the last of them.
  void join(Request& request, std::int64_t passes, std::int64_t tokens);
  // Leaves before it ends; request.sequence.computed, emitted and allocated are brought up to date.
  void leave(Request& request);

  // What the decode step `ahead` steps from now attends to: contexts with the new token, one entry for each law.
  // `ahead` must not exceed steps_to_crossing().
  [[nodiscard]] std::span<const models::Attended> attended(std::int64_t ahead = 0);
  // KV blocks that the step `ahead` steps from now starts, drafts included.
  [[nodiscard]] std::int64_t blocks_needed(std::int64_t ahead = 0) const {
    return ahead == 0 ? blocks_needed_ : blocks_started(grown_by(ahead - 1), grown_by(ahead));
  }
  // Tokens that each of them computes in a step.
  [[nodiscard]] std::int64_t tokens_per_decode() const { return speculation_.tokens_per_decode(); }
  // Tokens that every context grew by with the last step.
  [[nodiscard]] std::int64_t last_growth() const { return grown_ - grown_before_; }
  // Tokens that a decoding request has answered since it joined.
  [[nodiscard]] std::int64_t answered(const Request& request) const;
  // Drafts that were accepted, of sequences that have left: tokens beyond one a step.
  [[nodiscard]] std::int64_t accepted() const { return accepted_; }
  // Tokens that all of them together have still to answer, here or elsewhere.
  [[nodiscard]] std::int64_t tokens_to_finish() const { return std::max<std::int64_t>(0, ends_sum_ - size_ * grown_); }
  // Steps until the first sequence leaves, that step included: at least 1. Very large when empty.
  [[nodiscard]] std::int64_t steps_to_finish() {
    if (!first_end_) first_end_ = find_first_end();
    return *first_end_ - step_;
  }
  // Steps for which the aggregates advance evenly: no sequence grows beyond a window before.
  [[nodiscard]] std::int64_t steps_to_crossing() const;

  // Steps for which nothing but the contexts changes: none ends, none grows beyond a window.
  [[nodiscard]] std::int64_t even_steps() { return std::min(steps_to_finish() - 1, steps_to_crossing()); }
  // What the first `steps` of them come to: entries attended to, added to one number for each law, and KV blocks that
  // they start.
  void add_attended(std::int64_t steps, std::span<std::int64_t> attended) const;
  [[nodiscard]] std::int64_t blocks_of(std::int64_t steps) const {
    return blocks_needed_ + blocks_started(grown_, grown_by(steps - 1));
  }
  // So many of them are planned, at least one.
  void advance_evenly(std::int64_t steps);

  // One decode step is planned: every sequence grows. Those whose last pass it is leave and are added to `finished`, in
  // order of joining.
  void advance(std::vector<Request*>& finished);

  // Entries touched by join, leave and the ends of sequences: what a step costs beyond a constant. For the test of
  // O(1).
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  static constexpr std::int64_t kNoRing = std::numeric_limits<std::int64_t>::max();
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
  [[nodiscard]] std::int64_t find_first_end();
  // The largest offset of a sequence whose next context still fits into `size`.
  [[nodiscard]] std::int64_t furthest_inside(std::int64_t size) const { return size - grown_ - tokens_per_decode(); }
  [[nodiscard]] bool inside(const Window& w, std::int64_t offset) const { return offset <= furthest_inside(w.size); }
  [[nodiscard]] bool below_ring(std::int64_t offset) const { return !ring_ || offset <= furthest_inside(*ring_); }
  // What contexts have grown by when `ahead` more steps are taken.
  [[nodiscard]] std::int64_t grown_by(std::int64_t ahead) const { return speculation_.growth(step_ + ahead); }
  [[nodiscard]] std::int64_t blocks_for(std::int64_t tokens) const {
    return (std::min(tokens, ring_.value_or(kNoRing)) + block_tokens_ - 1) / block_tokens_;
  }
  // Where in a block's length the growth stands when a sequence starts one.
  [[nodiscard]] std::size_t phase(std::int64_t offset) const;
  // Blocks that start as the contexts grow from `from` to `to`.
  [[nodiscard]] std::int64_t blocks_started(std::int64_t from, std::int64_t to) const;

  // First what every step reads.
  std::int64_t size_ = 0;
  std::int64_t step_ = 0;
  std::int64_t grown_ = 0;         // tokens that a context grows by in so many steps
  std::int64_t grown_before_ = 0;  // a step ago
  std::int64_t blocks_needed_ = 0;
  std::int64_t accepted_ = 0;
  std::int64_t offset_sum_ = 0;
  std::int64_t longest_ = 0;  // of the offsets, while there are some
  std::int64_t block_tokens_;
  Speculation speculation_;
  std::optional<std::int64_t> first_end_;  // the step by which the first one ends, if that is known
  std::optional<std::int64_t> ring_;       // in whole blocks
  bool full_ = false;                      // the first law is full attention
  std::vector<Window> windows_;
  PerLaw<models::Attended> attended_;
  std::vector<std::int32_t> starts_block_;  // sequences by the growth (modulo block_tokens) at which they start a block
  boost::container::flat_map<std::int64_t, std::int64_t>
      offsets_;  // context - growth at joining: how many sequences have it
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  std::vector<Slot> slots_;
  std::vector<std::int32_t> spare_slots_;
  std::int64_t ends_sum_ = 0;  // of the growths at which they have answered all
  std::uint64_t next_order_ = 1;
  std::int64_t work_ = 0;
};

}  // namespace llmscape::serving
