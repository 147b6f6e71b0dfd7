// SPDX-License-Identifier: Apache-2.0
// The steps of a replica: what they cost, what they stamp, and those that are planned ahead of the clock.
#include <algorithm>
#include <span>
#include <stdexcept>

#include "hardware/layer_share.hpp"
#include "sim/serving/replica.hpp"

namespace llmscape::serving {

Seconds Replica::duration(const hardware::StepCost& cost) const {
  // Launches run beside the device; asynchronous scheduling hides the rest of the host's work too, unless the step is
  // short (docs/serving.md).
  const double stages = config_.pipeline_stages;
  const Seconds step = hides_host_ ? std::max(cost.stage() * stages, cost.host + cost.launch * stages)
                                   : cost.stage() * stages + cost.host;
  return step + cost.sync;
}

hardware::StepCost Replica::cost_of_plan(std::int64_t used_before) {
  chunks_.clear();
  for (const PlannedChunk& chunk : plan_.chunks) chunks_.push_back(chunk.work);
  models::Batch batch;
  batch.chunks = chunks_;
  batch.decodes = plan_.decodes + plan_.idle_decodes;
  batch.tokens_per_decode = config_.speculation.tokens_per_decode();
  batch.attended = plan_.attended;
  batch.prefill_layers = plan_.prefill_layers;
  batch.adapters = std::min(state_.adapters.in_use(), batch.decodes + static_cast<std::int64_t>(chunks_.size()));
  hardware::StepCost cost = hardware::step_by_layers(*step_model_, batch);
  const Seconds loading = static_cast<double>(state_.adapters.loads() - loads_) * config_.adapters.load;
  cost.sync += loading;
  if (host_) {
    plan_.host = host_->traffic(batch, used_before, state_.kv.used(), cost.device);
    cost.sync += plan_.host.wait;
  }
  totals_.adapter_loading += loading;
  loads_ = state_.adapters.loads();
  return cost;
}

hardware::StepCost Replica::chunk_cost(std::int64_t cached, std::int64_t tokens) {
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
    time += duration(step_model_->step(batch));
    cached += some;
  }
  return time;
}

bool Replica::plan_step(Seconds now) {
  offload_.begin_fetches(state_, now);
  const std::int64_t preemptions = state_.preemptions, used_before = state_.kv.used();
  plan_.clear();
  batcher_->plan(state_, now, plan_);
  // A step in which everybody had to give way computes nothing; the room is there for the next.
  if (plan_.empty() && state_.preemptions > preemptions) batcher_->plan(state_, now, plan_);
  if (plan_.empty()) return false;
  const Seconds start = std::max(now, last_end_);
  for (const PlannedChunk& chunk : plan_.chunks)
    if (chunk.request->hand_over && chunk.begins) outcomes_.on_prompt_start(*chunk.request, start);
  const hardware::StepCost cost = cost_of_plan(used_before);
  if (config_.pipeline) pass_pipeline(cost, now);
  else commit(cost, start, start + duration(cost));
  return true;
}

// What the host takes for a step and does not hide comes before the first stage, which other streams use meanwhile. The
// next step needs the tokens of this one, unless this one is a chunk of a prompt that goes on.
void Replica::pass_pipeline(const hardware::StepCost& cost, Seconds now) {
  const Seconds ready = now + (hides_host_ ? Seconds() : cost.host) + cost.sync;
  const Pipeline::Passage passage = config_.pipeline->pass(ready, cost.stage());
  state_.bubbles += passage.idle;
  commit(cost, passage.entered, passage.end);
  const auto goes_on = [](const PlannedChunk& chunk) { return !chunk.work.ends_prompt && !chunk.unfinished; };
  const bool follow = config_.chunks_follow && plan_.decodes == 0 && std::ranges::all_of(plan_.chunks, goes_on);
  plan_from_ = follow ? passage.left_first : passage.end;
}

// The step in plan_ will run: stamps its tokens and adds it to the totals.
void Replica::commit(const hardware::StepCost& cost, Seconds start, Seconds end) {
  if (!(end >= start) || end == kNever)
    throw std::logic_error("INV-2: a step of replica " + std::to_string(config_.index) + " that starts at " +
                           std::to_string(start.si()) + " s would end at " + std::to_string(end.si()) + " s");
  stamp_tokens(end);
  std::int64_t prefill_tokens = 0;
  for (const PlannedChunk& chunk : plan_.chunks) prefill_tokens += chunk.unfinished ? 0 : chunk.work.tokens;
  totals_.steps += 1;
  totals_.sequence_steps += plan_.decodes + static_cast<std::int64_t>(plan_.chunks.size());
  totals_.prefill_tokens += prefill_tokens;
  totals_.decode_tokens += plan_.decodes;
  totals_.passes += plan_.decodes;
  totals_.busy += config_.pipeline ? cost.stage() : end - start;  // shared stages: what a step keeps each of them busy
  constexpr auto kHost = static_cast<std::size_t>(hardware::OperatorFamily::host);
  const double stages = config_.pipeline ? 1 : config_.pipeline_stages;
  for (std::size_t i = 0; i < kHost; ++i)
    totals_.time[i][static_cast<std::size_t>(cost.bound[i])] += cost.by_family[i] * stages;
  // What of the host's time the device did not hide.
  totals_.time[kHost][static_cast<std::size_t>(hardware::Bound::overhead)] +=
      config_.pipeline ? cost.stage() - cost.device : std::max(Seconds(), duration(cost) - cost.device * stages);
  totals_.extrapolated += cost.extrapolated * stages;
  Joules energy;
  for (std::size_t i = 0; i < cost.energy.size(); ++i) {
    totals_.energy[i] += cost.energy[i];
    energy += cost.energy[i];
  }
  for (std::size_t i = 0; i < cost.energy_by_family.size(); ++i)
    totals_.energy_by_family[i] += cost.energy_by_family[i];
  for (std::size_t i = 0; i < cost.busy.size(); ++i) totals_.busy_by_resource[i] += cost.busy[i];
  totals_.flops += cost.flops;
  totals_.bytes += cost.bytes;
  totals_.attended.resize(std::max(totals_.attended.size(), plan_.attended.size()));
  for (std::size_t law = 0; law < plan_.attended.size(); ++law)
    totals_.attended[law] += static_cast<double>(plan_.attended[law].sum);
  if (!plan_.attended.empty()) totals_.attended_decodes += plan_.decodes + plan_.idle_decodes;
  totals_.expert_bytes += cost.expert_bytes;
  const std::int64_t sequences = plan_.decodes + static_cast<std::int64_t>(plan_.chunks.size());
  totals_.most_sequences = std::max(totals_.most_sequences, sequences);
  totals_.most_tokens =
      std::max(totals_.most_tokens, prefill_tokens + plan_.decodes * state_.decoding.tokens_per_decode());
  if (host_) host_->count(plan_.host, state_.kv.used());
  totals_.peak_kv_blocks = std::max(totals_.peak_kv_blocks, state_.kv.used());
  listener_.on_step(start, end, plan_.decodes, prefill_tokens, state_.waiting.size() + offload_.fetching(),
                    state_.kv.used());
  listener_.on_energy(start, end, energy);
  last_end_ = end;
  steps_.push_back({end, plan_.finished});
}

void Replica::stamp_tokens(Seconds end) {
  const auto record = [this, end](Seconds gap, std::int64_t count) { listener_.on_token_gaps(end, gap, count); };
  if (plan_.decodes > 0) state_.gaps.decode(end, plan_.decodes, record);
  stamp_accepted(end);
  for (const PlannedChunk& chunk : plan_.chunks) {
    if (!chunk.work.ends_prompt) continue;
    Request& request = *chunk.request;
    if (request.hand_over && config_.first_token != FirstToken::prefill) {
      request.clock.enter(RequestPhase::moving, end);
      continue;
    }
    if (request.first_token == kNever) {
      request.first_token = end;
    } else {
      record(end - request.latest_token, 1);  // went on after a preemption
    }
    request.latest_token = end;
    request.clock.enter(request.hand_over ? RequestPhase::transfer : RequestPhase::decode, end);
    if (request.state == Request::State::decoding) state_.gaps.join(end);
  }
}

// Tokens of one pass come together: the first of them ends the gap, the others follow at once. They are counted when
// their request leaves.
void Replica::stamp_accepted(Seconds at) {
  const std::int64_t accepted = state_.decoding.accepted() - accepted_;
  if (accepted == 0) return;
  accepted_ += accepted;
  totals_.decode_tokens += accepted;
  listener_.on_token_gaps(at, Seconds(), accepted);
}

// The batcher would plan the same decode step again and again until a sequence ends, a block is lacking or a message
// comes: prices these steps now, changes nothing else.
void Replica::plan_ahead() {
  if (!plan_.steady || state_.decoding.size() == 0 || state_.adapters.loads() > loads_) return;
  for (const Step& step : steps_)
    if (!step.finished.empty()) return;
  const std::int64_t furthest =
      std::min({config_.lookahead - 1, state_.decoding.steps_to_finish() - 1, state_.decoding.steps_to_crossing()});
  models::Batch batch;
  batch.decodes = state_.decoding.size();
  // An eviction that is written to a tier happens when it happens, as a prefix comes when it comes.
  const std::int64_t room = offload_.writes_evicted() ? state_.kv.free() : state_.kv.available();
  const Seconds arrival = offload_.next_arrival();
  batch.adapters = std::min(state_.adapters.in_use(), batch.decodes);
  batch.tokens_per_decode = config_.speculation.tokens_per_decode();
  std::int64_t blocks = 0;
  Seconds end = last_end_;
  for (std::int64_t ahead = 0; ahead <= furthest; ++ahead) {
    const std::int64_t used_before = state_.kv.used() + blocks;
    blocks += state_.blocks_for_decodes(ahead);
    if (blocks > room || next_plan() >= arrival) return;
    batch.attended = state_.decoding.attended(ahead);
    hardware::StepCost cost = step_model_->step(batch);
    KvHostTraffic host;
    if (host_) {
      host = host_->traffic(batch, used_before, state_.kv.used() + blocks, cost.device);
      cost.sync += host.wait;
    }
    end += duration(cost);
    ahead_.push_back({end, cost, host});
  }
}

// Steps planned ahead whose moment of planning lies before `until` (or at it) will run as priced.
void Replica::commit_ahead(Seconds until, bool inclusive) {
  while (!ahead_.empty()) {
    if (steps_.size() >= static_cast<std::size_t>(depth_)) {
      const Seconds planned = steps_[steps_.size() - static_cast<std::size_t>(depth_)].end;
      if (inclusive ? planned > until : planned >= until) return;
    }
    plan_.clear();
    state_.schedule_decodes(plan_);
    plan_.host = ahead_.front().host;
    commit(ahead_.front().cost, last_end_, ahead_.front().end);
    ahead_.pop_front();
    while (steps_.size() > static_cast<std::size_t>(depth_) && steps_.front().finished.empty()) steps_.pop_front();
  }
}

}  // namespace llmscape::serving
