// SPDX-License-Identifier: Apache-2.0
// The steps that a replica plans ahead of the clock: how far, and which of them stand.
#include <algorithm>
#include <utility>

#include "sim/serving/replica/replica.hpp"

namespace llmscape::serving {

void Replica::interrupt(Seconds at) {
  commit_before(at);
  reached_message_ = reached_report_ = false;
  if (ahead_.empty()) return;
  ahead_.clear();
  Reaches& reaches = work_->reaches;
  (at < foreseen_ ? reaches.past_report : reaches.past_message[standing_]).narrow();
}

bool Replica::answers_now(const Request& request, Seconds at) {
  interrupt(at);
  for (std::size_t i = 0; i < steps_.size() && steps_[i].end <= at; ++i)
    if (std::ranges::find(steps_[i].finished, &request) != steps_[i].finished.end()) return true;
  return false;
}

// The batcher would plan the same decode step again and again until a sequence ends, a block is lacking or a message
// comes: prices these steps now, changes nothing else.
void Replica::plan_ahead() {
  if (!steady_ || state_.decoding.size() == 0 || state_.running.adapters().loads() > loads_) return;
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (!steps_[i].finished.empty()) return;
  const std::int64_t furthest = std::min(config_.lookahead - 1, state_.decoding.even_steps());
  models::Batch batch;
  batch.decodes = state_.decoding.size();
  // An eviction that is written to a tier happens when it happens, as a prefix comes when it comes.
  const std::int64_t free = state_.kv.offload.writes_evicted() ? state_.kv.pool.free() : state_.kv.pool.available();
  const Seconds arrival = state_.kv.offload.next_arrival(), report = outcomes_.next_report();
  foreseen_ = outcomes_.next_message();
  batch.adapters = std::min(state_.running.adapters().in_use(), batch.decodes);
  batch.late = state_.decoding.late();
  Seconds end = scheduler_->last_end();
  tell_drafts(batch, batch.decodes, batch.late, {});
  const bool of_run = begin_run(batch);
  if (of_run) ahead_.begin(work_->run);
  Reaches& reaches = work_->reaches;
  if (std::exchange(reached_message_, false)) reaches.past_message[standing_].widen();
  if (std::exchange(reached_report_, false)) reaches.past_report.widen();
  standing_ = outcomes_.standing(config_.index, left_);
  const std::int64_t past_message = reaches.past_message[standing_].steps(), past_report = reaches.past_report.steps();
  std::int64_t blocks = 0;
  for (std::int64_t ahead = 0; ahead <= furthest; ++ahead) {
    const Seconds planned = depth_before();
    const std::int64_t blocks_before = blocks;
    blocks += state_.kv.blocks_for_decodes(state_.decoding, ahead);
    if (blocks > free || planned >= arrival) return;
    reached_message_ = planned >= foreseen_ && ahead >= past_message;
    reached_report_ = !reached_message_ && planned >= report && ahead >= past_report;
    if (reached_message_ || reached_report_) return;
    batch.attended = state_.decoding.attended(ahead);
    if (of_run && step_model_->attend(work_->run, batch, work_->own)) {
      ahead_.add(end += duration_of_own(), work_->own);
      continue;
    }
    if (of_run && ahead > 0) return;
    tell_drafts(batch, batch.decodes, batch.late, state_.decoding.drafted(ahead));
    engine::EngineCost cost = price(batch);
    KvStepCopies copies;
    if (const KvSpill* spill = state_.kv.spill()) {
      const KvCache& pool = state_.kv.pool;
      copies = spill->copies(batch, pool.occupied(blocks_before), pool.occupied(blocks), cost.device);
      cost.sync += copies.wait;
    }
    ahead_.add(end += scheduler_->timing().duration(cost), cost, copies);
  }
}

// How many of the steps planned ahead have their moment of planning before `until` (or at it).
std::size_t Replica::standing(Seconds until, bool inclusive) const {
  std::size_t count = 0;
  for (; count < ahead_.size(); ++count) {
    const std::size_t place = steps_.size() + count;
    if (place < depth()) continue;
    const Seconds planned = end_of(place - depth());
    if (inclusive ? planned > until : planned >= until) break;
  }
  return count;
}

// These will run as priced.
void Replica::commit_ahead(Seconds until, bool inclusive) {
  std::size_t left = standing(until, inclusive);
  if (left == 0) return;
  steady_ = false;
  work_->plan.clear();  // none but the last of them ends a sequence
  for (left -= commit_evenly(left); left > 0; --left) {
    state_.schedule_decodes(work_->plan);
    work_->plan.copies = ahead_.copies();
    commit(ahead_.price(), scheduler_->last_end(), ahead_.end(0));
    ahead_.pop_front();
    while (steps_.size() > depth() && steps_.front().finished.empty()) steps_.pop_front();
  }
}

// Of the first `most` steps planned ahead those in which nothing but the contexts changes, all at once: the same as one
// by one. Returns how many; 0 where each has to be looked at.
std::size_t Replica::commit_evenly(std::size_t most) {
  const Ring<RunStep>& steps = ahead_.of_run();
  DecodeSet& decoding = state_.decoding;
  const auto count = static_cast<std::size_t>(
      std::min({static_cast<std::int64_t>(most), static_cast<std::int64_t>(steps.size()), decoding.even_steps()}));
  if (count < 2 || reports_ || !state_.kv.stores().empty() || decoding.accepted() != accepted_) return 0;
  for (std::size_t i = 0; i < count; ++i)
    if (!(steps[i].end >= (i > 0 ? steps[i - 1].end : scheduler_->last_end()))) return 0;  // INV-2 is broken
  const auto taken = static_cast<std::int64_t>(count);
  work_->attended.assign(kv_laws_, 0);
  decoding.add_attended(taken, {work_->attended.data(), work_->attended.size()});
  const std::int64_t blocks = state_.kv.blocks_for_even(decoding, taken);
  StepLedger::Alike alike{decoding.size(), {}, {work_->attended.data(), work_->attended.size()}};
  alike.last.tokens = decoding.size() * decoding.tokens_per_decode();
  alike.last.emitted = decoding.size();
  alike.last.kv_blocks = state_.kv.pool.used() + blocks;
  // Blocks are taken and none given back: if one of these steps is the largest yet, the last of them is.
  if (memory_.may_be_largest(alike.last.tokens, alike.last.tokens, alike.last.kv_blocks)) return 0;

  if (listener_.hears_steps()) tell_evenly(count);
  if (blocks > 0) state_.kv.pool.take_for_decodes(blocks);
  decoding.advance_evenly(taken);
  state_.counts.answers += taken * alike.decodes;
  for (std::size_t i = 0; i < count; ++i)
    state_.gaps.decode(steps[i].end, alike.decodes,
                       [&](Seconds gap, std::int64_t tokens) { listener_.on_token_gaps(steps[i].end, gap, tokens); });
  ledger_.commit_run(ahead_.run(), steps, count, scheduler_->last_end(), alike);
  const std::size_t under_way = std::min(count, depth());
  if (under_way == depth()) steps_.clear();
  for (std::size_t i = count - under_way; i < count; ++i) {
    Step& step = steps_.push_back();
    step.end = steps[i].end;
    step.finished.clear();
  }
  while (steps_.size() > depth()) steps_.pop_front();
  scheduler_->planned_until(steps_.back().end);
  ahead_.pop_front(count);
  return count;
}

// Of each of the first `count` steps that are planned ahead, before their blocks are taken.
void Replica::tell_evenly(std::size_t count) {
  const auto waiting = static_cast<std::int64_t>(state_.waiting.size() + state_.kv.offload.fetching());
  std::int64_t blocks = state_.kv.pool.used();
  Seconds start = scheduler_->last_end();
  for (std::size_t i = 0; i < count; ++i) {
    const Seconds end = ahead_.end(i);
    blocks += state_.kv.blocks_for_decodes(state_.decoding, static_cast<std::int64_t>(i));
    listener_.on_step(start, end, state_.decoding.size(), 0, waiting, blocks);
    start = end;
  }
}

}  // namespace llmscape::serving
