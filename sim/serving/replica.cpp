// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace llmscape::serving {

Replica::Replica(ReplicaConfig config, const BatcherPolicy& policy, std::unique_ptr<hardware::StepModel> step_model,
                 const std::vector<std::int64_t>& kv_laws, OutcomeListener& outcomes, StepListener& steps)
    : config_(std::move(config)), depth_(policy.depth()), max_sequences_(policy.max_sequences()),
      max_tokens_(policy.max_tokens()), batcher_(policy.make()), step_model_(std::move(step_model)),
      outcomes_(outcomes), listener_(steps),
      state_(config_.kv_blocks, config_.block_tokens, policy.prefix_caching(), policy.kv_grows(), kv_laws,
             config_.speculation, config_.adapters.resident),
      offload_(config_.offload, max_sequences_,
               [this](std::int64_t cached, std::int64_t tokens) { return prefill_time(cached, tokens); }) {
  if (offload_.active()) state_.kv.set_listener(&offload_);
}

// Steps whose moment of planning lies before the message stand; those ahead are planned anew with it.
void Replica::post(const Message& message) {
  interrupt(message.at);
  messages_.push_back(message);
  if (config_.turns && message.kind == Message::Kind::submit) config_.turns->want(*this, message.at);
}

void Replica::interrupt(Seconds at) {
  commit_ahead(at, false);
  ahead_.clear();
}

bool Replica::quiet() const {
  return steps_.empty() && messages_.empty() && state_.running() == 0 && state_.waiting.empty();
}

void Replica::submit(Request& request, Seconds at) {
  post({Message::Kind::submit, &request, request.id, Outcome::completed, at});
}

void Replica::cancel(Request& request, Outcome why, Seconds at) {
  post({Message::Kind::cancel, &request, request.id, why, at});
}

void Replica::expect(Request& request, Seconds at) {
  post({Message::Kind::expect, &request, request.id, Outcome::completed, at});
}

void Replica::join(Request& request, Seconds at) {
  post({Message::Kind::join, &request, request.id, Outcome::completed, at});
}

void Replica::forget(std::uint64_t request_id, Seconds at) {
  post({Message::Kind::forget, nullptr, request_id, Outcome::completed, at});
}

void Replica::release(std::uint64_t request_id, Seconds at) {
  post({Message::Kind::release, nullptr, request_id, Outcome::completed, at});
}

std::vector<Request*> Replica::crash(Seconds at) {
  commit_ahead(at, false);
  ahead_.clear();
  end_steps(at);
  if (last_end_ > at) {  // what runs does not run to its end; its energy is charged all the same
    const Seconds busy = totals_.busy - (last_end_ - at);
    const double share = busy / totals_.busy;
    for (Seconds& family : totals_.time_by_family) family *= share;
    for (Seconds& part : totals_.busy_by_resource) part *= share;
    totals_.extrapolated *= share;
    totals_.busy = busy;
    last_end_ = at;
  }
  steps_.clear();
  for (auto& [id, import] : reserved_) state_.drop(import);
  for (auto& [id, lease] : lent_) state_.release(lease);
  std::vector<Request*> lost;
  for (const Message& message : messages_)
    if (message.kind == Message::Kind::submit || message.kind == Message::Kind::join) lost.push_back(message.request);
  offload_.lose(state_, lost);
  state_.lose_all(lost);
  stamp_accepted(at);
  messages_.clear();
  expected_.clear();
  reserved_.clear();
  lent_.clear();
  if (config_.turns) config_.turns->leave(*this, at);
  return lost;
}

// A step may be planned when the one `depth_` before it ends.
Seconds Replica::next_plan() const {
  const std::size_t planned = steps_.size() + ahead_.size();
  const std::size_t before = planned - std::min(planned, static_cast<std::size_t>(depth_));
  return before < steps_.size() ? steps_[before].end : ahead_[before - steps_.size()].end;
}

Seconds Replica::next_event() const {
  Seconds next = kNever;
  const std::size_t planned = steps_.size() + ahead_.size();
  if (planned > 0) next = next_plan();
  // Its turn comes; once it has tried in vain to plan something in it, something else has to happen first.
  if (planned == 0 && config_.turns && config_.turns->runs_from(*this) != tried_turn_)
    next = config_.turns->runs_from(*this);
  if (planned < static_cast<std::size_t>(depth_)) {
    next = std::min(next, offload_.next_arrival());
    if (!messages_.empty()) next = std::min(next, messages_.front().at);
  }
  for (const Step& step : steps_) {
    if (step.end >= next) break;
    if (!step.finished.empty()) return step.end;
  }
  return next;
}

void Replica::wake(Seconds now) {
  outcomes_.on_wake(now);
  commit_ahead(now, true);
  offload_.set_clock(now);
  end_steps(now);
  read_messages(now);
  if (offload_.end_fetches(state_, now) && config_.turns) config_.turns->want(*this, now);
  reserve_imports(now);
  plan_steps(now);
  if (config_.turns && steps_.empty()) config_.turns->rest(*this, state_.running() > 0 || !state_.waiting.empty(), now);
}

void Replica::plan_steps(Seconds now) {
  while (steps_.size() + ahead_.size() < static_cast<std::size_t>(depth_)) {
    if (config_.turns && !config_.turns->may_plan(*this, now)) return;
    if (config_.turns) tried_turn_ = config_.turns->runs_from(*this);
    if (!plan_step(now)) return;
    if (config_.turns) config_.turns->worked();
  }
  if (ahead_.empty() && !(config_.turns && config_.turns->contended())) plan_ahead();
}

void Replica::end_steps(Seconds now) {
  while (!steps_.empty() && steps_.front().end <= now) {
    for (Request* request : steps_.front().finished) {
      if (request->hand_over) {
        lent_.emplace(request->id, state_.lend(*request));
      } else {
        state_.retire(*request);
        request->last_token = steps_.front().end;
      }
      outcomes_.on_outcome(*request, Outcome::completed, steps_.front().end);
    }
    steps_.pop_front();
  }
}

int Replica::adapter_of(const Request& request) const {
  return config_.adapters.law ? config_.adapters.law->of(request) : -1;
}

bool Replica::servable(const Request& request) const {
  const std::int64_t length = request.prompt_tokens + request.output_tokens;
  return length <= config_.max_model_len &&
         state_.kv.blocks_for(length + config_.speculation.drafts) <= state_.kv.blocks();
}

void Replica::read_messages(Seconds now) {
  while (!messages_.empty() && messages_.front().at <= now) {
    const Message message = messages_.front();
    messages_.pop_front();
    read(message, now);
  }
}

void Replica::read(const Message& message, Seconds now) {
  switch (message.kind) {
    case Message::Kind::submit: {
      Request& request = *message.request;
      if (request.schedule == kNever) request.enqueue = now;
      request.adapter = adapter_of(request);
      if (servable(request)) {
        state_.waiting.push(request);
      } else {
        request.state = Request::State::finishing;
        request.reason = Reason::too_long;
        outcomes_.on_outcome(request, Outcome::dropped, now);
      }
      break;
    }
    case Message::Kind::cancel:
      if (message.request->id != message.id) break;
      offload_.cancel(state_, *message.request);
      if (state_.cancel(*message.request)) {
        stamp_accepted(now);
        outcomes_.on_outcome(*message.request, message.why, now);
      }
      break;
    case Message::Kind::expect:
      expected_.push_back({message.request, message.id, adapter_of(*message.request), 0, {}});
      break;
    case Message::Kind::join:
      state_.join(reserved_.at(message.id));
      reserved_.erase(message.id);
      break;
    case Message::Kind::forget:
      std::erase_if(expected_, [&](const KvImport& import) { return import.id == message.id; });
      if (const auto found = reserved_.find(message.id); found != reserved_.end()) {
        state_.drop(found->second);
        reserved_.erase(found);
      }
      break;
    case Message::Kind::release:
      state_.release(lent_.at(message.id));
      lent_.erase(message.id);
      break;
  }
}

// In order: the first that does not fit stops those behind it.
void Replica::reserve_imports(Seconds now) {
  while (!expected_.empty() && state_.reserve(expected_.front(), max_sequences_)) {
    KvImport& import = reserved_.emplace(expected_.front().id, expected_.front()).first->second;
    expected_.pop_front();
    const std::int64_t here = import.hit_blocks * state_.kv.block_tokens();
    outcomes_.on_reserved(*import.request, import.request->prompt_tokens - here, now);
  }
}

Seconds Replica::duration(const hardware::StepCost& cost) const {
  const Seconds device = cost.device * config_.pipeline_stages;
  // Asynchronous scheduling hides the host behind the device unless the step is short (docs/serving.md).
  return (depth_ > 1 ? std::max(device, cost.host) : device + cost.host) + cost.sync;
}

hardware::StepCost Replica::cost_of_plan() {
  chunks_.clear();
  for (const PlannedChunk& chunk : plan_.chunks) chunks_.push_back(chunk.work);
  models::Batch batch;
  batch.chunks = chunks_;
  batch.decodes = plan_.decodes + plan_.idle_decodes;
  batch.tokens_per_decode = config_.speculation.tokens_per_decode();
  batch.attended = plan_.attended;
  batch.adapters = std::min(state_.adapters.in_use(), batch.decodes + static_cast<std::int64_t>(chunks_.size()));
  hardware::StepCost cost = step_model_->step(batch);
  const Seconds loading = static_cast<double>(state_.adapters.loads() - loads_) * config_.adapters.load;
  cost.sync += loading;
  totals_.adapter_loading += loading;
  loads_ = state_.adapters.loads();
  return cost;
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
  const std::int64_t preemptions = state_.preemptions;
  plan_.clear();
  batcher_->plan(state_, now, plan_);
  // A step in which everybody had to give way computes nothing; the room is there for the next.
  if (plan_.empty() && state_.preemptions > preemptions) batcher_->plan(state_, now, plan_);
  if (plan_.empty()) return false;
  const Seconds start = std::max(now, last_end_);
  for (const PlannedChunk& chunk : plan_.chunks)
    if (chunk.request->hand_over && chunk.request->prefilled == chunk.work.tokens)
      outcomes_.on_prompt_start(*chunk.request, start);
  const hardware::StepCost cost = cost_of_plan();
  commit(cost, start, start + duration(cost));
  return true;
}

// The step in plan_ will run: stamps its tokens and adds it to the totals.
void Replica::commit(const hardware::StepCost& cost, Seconds start, Seconds end) {
  if (!(end >= start) || end == kNever)
    throw std::logic_error("INV-2: a step of replica " + std::to_string(config_.index) + " that starts at " +
                           std::to_string(start.si()) + " s would end at " + std::to_string(end.si()) + " s");
  stamp_tokens(end);
  std::int64_t prefill_tokens = 0;
  for (const PlannedChunk& chunk : plan_.chunks) prefill_tokens += chunk.work.tokens;
  totals_.steps += 1;
  totals_.sequence_steps += plan_.decodes + static_cast<std::int64_t>(plan_.chunks.size());
  totals_.prefill_tokens += prefill_tokens;
  totals_.decode_tokens += plan_.decodes;
  totals_.passes += plan_.decodes;
  totals_.busy += end - start;
  constexpr auto kHost = static_cast<std::size_t>(hardware::OperatorFamily::host);
  const double stages = config_.pipeline_stages;
  for (std::size_t i = 0; i < kHost; ++i) totals_.time_by_family[i] += cost.by_family[i] * stages;
  // What of the host's time the device did not hide.
  totals_.time_by_family[kHost] += std::max(Seconds(), duration(cost) - cost.device * stages);
  totals_.extrapolated += cost.extrapolated * stages;
  Joules energy;
  for (std::size_t i = 0; i < cost.energy.size(); ++i) {
    totals_.energy[i] += cost.energy[i];
    energy += cost.energy[i];
  }
  for (std::size_t i = 0; i < cost.busy.size(); ++i) totals_.busy_by_resource[i] += cost.busy[i];
  totals_.flops += cost.flops;
  totals_.bytes += cost.bytes;
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
    if (request.first_token == kNever) {
      request.first_token = end;
    } else {
      record(end - request.latest_token, 1);  // went on after a preemption
    }
    request.latest_token = end;
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
    blocks += state_.blocks_for_decodes(ahead);
    if (blocks > room || next_plan() >= arrival) return;
    batch.attended = state_.decoding.attended(ahead);
    const hardware::StepCost cost = step_model_->step(batch);
    end += duration(cost);
    ahead_.push_back({end, cost});
  }
}

// Steps planned ahead whose moment of planning lies before `until` (or at it) will run as priced.
void Replica::commit_ahead(Seconds until, bool inclusive) {
  while (!ahead_.empty()) {
    if (steps_.size() >= static_cast<std::size_t>(depth_)) {
      const Seconds planned = steps_[steps_.size() - static_cast<std::size_t>(depth_)].end;
      if (inclusive ? planned > until : planned >= until) return;
    }
    const Ahead step = ahead_.front();
    ahead_.pop_front();
    plan_.clear();
    state_.schedule_decodes(plan_);
    commit(step.cost, last_end_, step.end);
    while (steps_.size() > static_cast<std::size_t>(depth_) && steps_.front().finished.empty()) steps_.pop_front();
  }
}

std::int64_t Replica::cached_tokens(const Prompt& prompt, std::int64_t tokens, Seconds at) {
  commit_ahead(at, false);
  const std::int64_t hit = state_.kv.match(prompt, tokens).blocks;
  return hit * state_.kv.block_tokens() + offload_.spared_tokens(prompt, tokens, hit, at);
}

void Replica::check_invariants(Seconds now) const {
  if (state_.kv.available() < 0 || state_.kv.used() < 0 || state_.kv.used() > state_.kv.blocks())
    throw std::logic_error("INV-4: KV blocks do not add up in replica " + std::to_string(config_.index));
  if (state_.running() == 0 && lent_.empty() && offload_.fetching() == 0 && state_.kv.used() != 0)
    throw std::logic_error("INV-4: replica " + std::to_string(config_.index) + " holds KV blocks for nobody");
  const Seconds beyond = std::max(Seconds(), last_end_ - now);  // what runs when the last call is given up
  if (totals_.busy - beyond > now * (1 + 1e-9))
    throw std::logic_error("INV-8: replica " + std::to_string(config_.index) +
                           " was busy for longer than the run lasted");
}

}  // namespace llmscape::serving
