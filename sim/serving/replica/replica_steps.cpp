// SPDX-License-Identifier: Apache-2.0
// The steps of a replica: what they cost and what they stamp.
#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include "sim/serving/replica/replica.hpp"

namespace llmscape::serving {

// How many tokens the decodes of a batch compute: one each where all would have to wait too long for their drafts.
void Replica::tell_drafts(models::Batch& batch, std::int64_t decodes, std::int64_t late,
                          std::span<const models::Attended> drafted) const {
  batch.late = late;
  batch.drafted = drafted;
  batch.tokens_per_decode = late > 0 && late == decodes ? 1 : config_.speculation.tokens_per_decode();
}

engine::EngineCost Replica::price(const models::Batch& batch) {
  return work_->plan.shape ? work_->plan.shape->price(*step_model_, batch) : step_model_->step(batch);
}

// Until work_->plan changes.
models::Batch Replica::batch_of_plan() {
  work_->chunks.clear();
  for (const PlannedChunk& chunk : work_->plan.chunks) work_->chunks.push_back(chunk.work);
  models::Batch batch;
  batch.chunks = work_->chunks;
  batch.decodes = work_->plan.decodes + work_->plan.idle_decodes;
  tell_drafts(batch, work_->plan.decodes, work_->plan.late, work_->plan.drafted);
  batch.attended = {work_->plan.attended.data(), work_->plan.attended.size()};
  return batch;
}

engine::EngineCost Replica::cost_of_plan(const models::RankTokens& ranks) {
  models::Batch batch = batch_of_plan();
  batch.ranks = ranks;
  if (work_->plan.shape) batch.prefill_layers = work_->plan.shape->chunk_layers();
  batch.adapters =
      std::min(state_.running.adapters().in_use(), batch.decodes + static_cast<std::int64_t>(work_->chunks.size()));
  engine::EngineCost cost = price(batch);
  if (config_.exchange) exchanged_ = config_.exchange->plan(config_.index, batch);
  const Seconds loading = static_cast<double>(state_.running.adapters().loads() - loads_) * config_.adapters.load;
  cost.sync += loading;
  if (const KvSpill* spill = state_.kv.spill()) {
    work_->plan.copies = spill->copies(batch, occupied_before_, state_.kv.pool.occupied(), cost.device);
    cost.sync += work_->plan.copies.wait;
  }
  ledger_.count_loading(loading);
  loads_ = state_.running.adapters().loads();
  return cost;
}

engine::EngineCost Replica::chunk_cost(std::int64_t cached, std::int64_t tokens) {
  const models::PrefillChunk chunk{tokens, cached, false};
  models::Batch batch;
  batch.chunks = std::span(&chunk, 1);
  return step_model_->step(batch);
}

// Of computing tokens [cached, tokens) of a prompt in chunks of the largest step, alone.
Seconds Replica::prefill_time(std::int64_t cached, std::int64_t tokens) {
  Seconds time;
  while (cached < tokens) {
    const std::int64_t some = std::min(tokens - cached, max_tokens_);
    const models::PrefillChunk chunk{some, cached, cached + some == tokens};
    models::Batch batch;
    batch.chunks = std::span(&chunk, 1);
    time += scheduler_->timing().duration(step_model_->step(batch));
    cached += some;
  }
  return time;
}

bool Replica::draft(Seconds now) {
  state_.kv.offload.begin_fetches(state_, now);
  const std::int64_t preemptions = state_.counts.preemptions;
  occupied_before_ = state_.kv.pool.occupied();
  work_->plan.clear();
  batcher_->plan(state_, now, work_->plan);
  // A step in which everybody had to give way computes nothing; their blocks are there for the next.
  if (work_->plan.empty() && state_.counts.preemptions > preemptions) batcher_->plan(state_, now, work_->plan);
  steady_ = work_->plan.steady;
  return !work_->plan.empty();
}

void Replica::announce_prompts(Seconds start) {
  for (const PlannedChunk& chunk : work_->plan.chunks)
    if (chunk.request->sequence.decodes_elsewhere && chunk.begins) outcomes_.on_prompt_start(*chunk.request, start);
}

models::RankTokens Replica::drafted_tokens() const {
  models::RankTokens own;
  for (const PlannedChunk& chunk : work_->plan.chunks) {
    own.chunks += chunk.work.tokens;
    own.unrelated += models::unrelated_tokens({}, chunk.work.tokens);
  }
  models::Batch batch;
  batch.decodes = work_->plan.decodes + work_->plan.idle_decodes;
  tell_drafts(batch, work_->plan.decodes, work_->plan.late, work_->plan.drafted);
  own.decodes = batch.decode_tokens();
  if (work_->plan.empty()) own.decodes = 1;
  own.most = own.chunks + own.decodes;
  return own;
}

Seconds Replica::price_draft(Seconds now, const models::RankTokens& tokens) {
  const Seconds start = scheduler_->earliest_start(now);
  if (work_->plan.empty()) {
    dummy_attended_.assign(kv_laws_, {1, 1});
    models::Batch dummy;
    dummy.decodes = 1;
    dummy.attended = dummy_attended_;
    dummy.ranks = tokens;
    draft_cost_ = step_model_->step(dummy);
    if (config_.exchange) exchanged_ = config_.exchange->plan(config_.index, dummy);
  } else {
    announce_prompts(start);
    draft_cost_ = cost_of_plan(tokens);
  }
  return start + scheduler_->timing().duration(draft_cost_) + exchanged_.latency;
}

void Replica::run_draft(Seconds now, Seconds end) {
  held_.reset();
  if (work_->plan.empty()) ledger_.count_dummy();
  commit(draft_cost_, scheduler_->earliest_start(now), end);
}

// Whether steps like `batch`, of decodes alone, may be priced as those of work_->run: nothing but their decodes takes
// time.
bool Replica::begin_run(const models::Batch& batch) {
  if (!prices_runs_ || work_->plan.shape || batch.late > 0 || state_.kv.spill() ||
      state_.running.adapters().loads() > loads_)
    return false;
  return step_model_->decode_run(batch, work_->run);
}

Seconds Replica::duration_of_own() const {
  return scheduler_->timing().duration(work_->run.steps->device(work_->own), work_->run.host, work_->run.launch,
                                       work_->run.sync);
}

bool Replica::plan_step(Seconds now) {
  if (!draft(now)) return false;
  if (work_->plan.chunks.empty()) {
    models::Batch batch = batch_of_plan();
    batch.adapters = std::min(state_.running.adapters().in_use(), batch.decodes);
    if (begin_run(batch) && step_model_->attend(work_->run, batch, work_->own)) {
      const Seconds start = scheduler_->earliest_start(now);
      commit({nullptr, &work_->run, &work_->own}, start, start + duration_of_own());
      return true;
    }
  }
  announce_prompts(scheduler_->earliest_start(now));
  const engine::EngineCost cost = cost_of_plan();
  const StepScheduler::Span span = scheduler_->place(work_->plan, cost, now);
  state_.running.count_bubble(span.idle);
  if (exchanged_.bytes > Seconds()) {
    draft_cost_ = cost;
    const Seconds end = span.end + exchanged_.latency;
    hold_draft(now, end);
    exchange_of_step_.plan(now, end - exchanged_.bytes, end);
    return true;
  }
  commit(cost, span.start, span.end, span.stages);
  return true;
}

// The bytes of the step that was held have arrived, or it ends without them.
void Replica::end_held(Seconds end) {
  const Seconds start = held_->start;
  held_.reset();
  commit(draft_cost_, start, end);
}

// The step in work_->plan will run: stamps its tokens and adds it to the totals.
void Replica::commit(const StepPrice& price, Seconds start, Seconds end, std::span<const Seconds> stages) {
  if (!(end >= start) || end == kNever)
    throw std::logic_error("INV-2: a step of replica " + std::to_string(config_.index) + " that starts at " +
                           std::to_string(start.si()) + " s would end at " + std::to_string(end.si()) + " s");
  stamp_tokens(end);
  if (KvSpill* spill = state_.kv.spill()) spill->count(work_->plan.copies, state_.kv.pool.occupied());
  StepLedger::Occupancy occupancy;
  occupancy.tokens = work_->plan.prefill_tokens() + work_->plan.decode_tokens();
  occupancy.emitted =
      work_->plan.decodes +
      std::ranges::count_if(work_->plan.chunks, [this](const PlannedChunk& chunk) { return answers(chunk); });
  occupancy.waiting = state_.waiting.size() + state_.kv.offload.fetching();
  occupancy.kv_blocks = state_.kv.pool.used();
  ledger_.commit(price, start, end, work_->plan, occupancy, stages);
  const auto rows = work_->plan.decode_tokens() + static_cast<std::int64_t>(work_->plan.chunks.size());
  if (work_->plan.idle_decodes > 0 || memory_.may_be_largest(occupancy.tokens, rows, occupancy.kv_blocks))
    memory_.count(batch_of_plan(), occupancy.kv_blocks, start);
  scheduler_->planned_until(end);
  Step& step = steps_.push_back();
  step.end = end;
  step.finished.clear();
  for (Request* request : work_->plan.finished) step.finished.push_back(request);
}

// The chunk yields a token, and not only KV entries for another replica that answers it.
bool Replica::answers(const PlannedChunk& chunk) const {
  return chunk.work.ends_prompt &&
         !(chunk.request->sequence.decodes_elsewhere && config_.first_token != FirstToken::prefill);
}

// The engine has the first token; where it holds tokens back, reports_ says when the user has.
void Replica::stamp_first(Request& request, Seconds at) {
  request.first_token = at;
  if (reports_) return;
  request.seen.first = at;
  listener_.on_first_token(at);
}

void Replica::stamp_tokens(Seconds end) {
  const auto record = [this, end](Seconds gap, std::int64_t count) {
    if (!reports_) listener_.on_token_gaps(end, gap, count);
  };
  if (work_->plan.decodes > 0) state_.gaps.decode(end, work_->plan.decodes, record);
  if (work_->plan.decodes > 0 && reports_) reports_->step(state_.decoding, work_->plan.finished, end);
  stamp_accepted(end);
  for (const PlannedChunk& chunk : work_->plan.chunks) {
    if (!chunk.work.ends_prompt) continue;
    Request& request = *chunk.request;
    if (!answers(chunk)) {
      request.clock.enter(RequestPhase::moving, end);
      continue;
    }
    if (request.first_token == kNever) {
      stamp_first(request, end);
    } else {
      record(end - request.latest_token, 1);  // went on after a preemption
    }
    request.latest_token = end;
    if (reports_) reports_->answered(request, end);
    if (request.answered())
      request.clock.enter(request.sequence.decodes_elsewhere ? RequestPhase::transfer : RequestPhase::decode, end);
    if (request.sequence.state == Sequence::State::decoding) state_.gaps.join(end);
  }
}

// Tokens of one pass come together: the first of them ends the gap, the others follow at once. They are counted when
// their request leaves.
void Replica::stamp_accepted(Seconds at) {
  const std::int64_t accepted = state_.decoding.accepted() - accepted_;
  if (accepted == 0) return;
  accepted_ += accepted;
  ledger_.count_accepted(accepted);
  if (!reports_) listener_.on_token_gaps(at, Seconds(), accepted);
}

}  // namespace llmscape::serving
