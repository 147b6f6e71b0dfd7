// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/serving/replica/decode_cohort.hpp"

namespace llmscape::serving {

// The sequences that decode. All do so alike, but where drafts may be late (Speculation::longest_in_time): those whose
// drafts are in time and those that go without are a cohort each, and a request goes from the first to the second with
// the pass that was drawn for it when it began to decode.
class DecodeSet {
 public:
  // As DecodeCohort has them.
  DecodeSet(const std::vector<std::int64_t>& laws, int block_tokens, const Speculation& speculation = {},
            std::int64_t ring = 0);

  [[nodiscard]] std::int64_t size() const { return drafted_.size() + late(); }
  // Of them, those that decode without drafts because theirs would be late: a token a pass.
  [[nodiscard]] std::int64_t late() const { return late_ ? late_->size() : 0; }
  // Decode steps taken so far.
  [[nodiscard]] std::int64_t step() const { return drafted_.step(); }

  // Joins with request.sequence.entries() in the cache and request.emitted answered, before its next decode step.
  void join(Request& request);
  // Leaves before it ends; request.sequence.computed, emitted and allocated are brought up to date.
  void leave(Request& request) { cohort_of(request).leave(request); }
  // It has taken a decode step since it joined.
  [[nodiscard]] bool has_decoded(const Request& request) const {
    return request.sequence.outgrew_drafts || request.sequence.joined_step < step();
  }

  // What the decode step `ahead` steps from now attends to: contexts with the new tokens, one entry for each law.
  // `ahead` must not exceed steps_to_crossing(), and be less than steps_to_finish().
  [[nodiscard]] std::span<const models::Attended> attended(std::int64_t ahead = 0);
  // The same of those that decode with drafts; empty where no sequence is late, or all are.
  [[nodiscard]] std::span<const models::Attended> drafted(std::int64_t ahead = 0);
  // KV blocks that the step `ahead` steps from now takes, drafts included. Below zero where sequences that have just
  // become late give back more than the others take: rejected drafts leave their entries to the next step.
  [[nodiscard]] std::int64_t blocks_needed(std::int64_t ahead = 0) const {
    return drafted_.blocks_needed(ahead) + (late_ ? late_->blocks_needed(ahead) : 0);
  }
  // Tokens that each of those with drafts computes in a step.
  [[nodiscard]] std::int64_t tokens_per_decode() const { return drafted_.tokens_per_decode(); }
  // The most that one of them computes in the next step.
  [[nodiscard]] std::int64_t most_tokens() const { return all_late() ? 1 : tokens_per_decode(); }
  // The most that a context grew by with the last step.
  [[nodiscard]] std::int64_t last_growth() const { return last_growth_; }
  // Tokens that a decoding request has answered since it joined its cohort.
  [[nodiscard]] std::int64_t answered(const Request& request) const { return cohort_of(request).answered(request); }
  // Tokens that a request has answered so far, also while it decodes here.
  [[nodiscard]] std::int64_t emitted(const Request& request) const {
    return request.emitted + (request.sequence.state == Sequence::State::decoding ? answered(request) : 0);
  }
  // Of the tokens that a request has by the plans of its steps: those of steps that end after `at`, the last
  // `decode_steps` of which decode. One of a chunk, and one of each decode step that it is part of (a pass counts as
  // one token until its drafts do).
  [[nodiscard]] std::int64_t unanswered(const Request& request, Seconds at, std::int64_t decode_steps) const;
  // Drafts that were accepted, of sequences that have left or are late: tokens beyond one a step.
  [[nodiscard]] std::int64_t accepted() const { return drafted_.accepted(); }
  // Of one that decodes: those that accepted() does not count yet.
  [[nodiscard]] std::int64_t accepted(const Request& request) const {
    return answered(request) - (step() - request.sequence.joined_step);
  }
  // Tokens that all of them together have still to answer.
  [[nodiscard]] std::int64_t tokens_to_finish() const {
    return drafted_.tokens_to_finish() + (late_ ? late_->tokens_to_finish() : 0);
  }
  // Steps until the first sequence ends or its drafts become late, that step included: at least 1. Very large when
  // empty.
  [[nodiscard]] std::int64_t steps_to_finish() {
    const std::int64_t steps = drafted_.steps_to_finish();
    return late_ ? std::min(steps, late_->steps_to_finish()) : steps;
  }
  // Steps for which the aggregates advance evenly: no sequence grows beyond a window before.
  [[nodiscard]] std::int64_t steps_to_crossing() const {
    const std::int64_t steps = drafted_.steps_to_crossing();
    return late_ ? std::min(steps, late_->steps_to_crossing()) : steps;
  }

  // Steps for which nothing but the contexts changes: none ends, none grows beyond a window.
  [[nodiscard]] std::int64_t even_steps() {
    const std::int64_t steps = drafted_.even_steps();
    return late_ ? std::min(steps, late_->even_steps()) : steps;
  }
  // What the first `steps` of them, at least one, come to: entries attended to, added to one number for each law, and
  // KV blocks that they start; and so many are planned.
  void add_attended(std::int64_t steps, std::span<std::int64_t> attended) const {
    drafted_.add_attended(steps, attended);
    if (late_) late_->add_attended(steps, attended);
  }
  [[nodiscard]] std::int64_t blocks_of(std::int64_t steps) const {
    return drafted_.blocks_of(steps) + (late_ ? late_->blocks_of(steps) : 0);
  }
  void advance_evenly(std::int64_t steps);
  // One decode step is planned: every sequence grows. Those that end with it leave and are added to `finished`.
  void advance(std::vector<Request*>& finished);

  // Entries touched by join, leave and the ends of sequences: what a step costs beyond a constant. For the test of
  // O(1).
  [[nodiscard]] std::int64_t work() const { return drafted_.work() + (late_ ? late_->work() : 0); }

 private:
  [[nodiscard]] bool all_late() const { return late() > 0 && drafted_.size() == 0; }
  [[nodiscard]] bool in_late(const Request& request) const { return late_ && request.sequence.drafts_late; }
  DecodeCohort& cohort_of(const Request& request) { return in_late(request) ? *late_ : drafted_; }
  [[nodiscard]] const DecodeCohort& cohort_of(const Request& request) const {
    return in_late(request) ? *late_ : drafted_;
  }
  void join_late(Request& request);

  DecodeCohort drafted_;                // all, where no drafts are made
  std::unique_ptr<DecodeCohort> late_;  // nullptr: none can be late
  std::int64_t last_growth_ = 0;
  Speculation speculation_;
  std::vector<models::Attended> attended_;
  std::vector<Request*> ended_;
};

}  // namespace llmscape::serving
