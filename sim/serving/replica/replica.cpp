// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/replica.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace llmscape::serving {
namespace {

std::unique_ptr<StepScheduler> scheduler_of(const ReplicaConfig& config, int depth) {
  StepTiming timing;
  timing.stages = config.pipeline_stages;
  timing.shared_stages = config.pipeline != nullptr;
  timing.hides_host = depth > 1;
  timing.waits_for_others = config.rank_of_group || config.exchange;
  timing.waiting = config.waiting_power;
  timing.depth = config.pipeline ? 1 : static_cast<std::size_t>(depth);
  if (!config.pipeline) return std::make_unique<StepScheduler>(timing);
  return std::make_unique<PipelineStepScheduler>(timing, *config.pipeline, config.chunks_follow);
}

}  // namespace

Replica::Replica(ReplicaConfig config, const BatcherPolicy& policy, std::unique_ptr<engine::EngineModel> step_model,
                 const std::vector<std::int64_t>& kv_laws, OutcomeListener& outcomes, StepListener& steps)
    : batcher_(policy.make()), step_model_(std::move(step_model)), scheduler_(scheduler_of(config, policy.depth())),
      outcomes_(outcomes), listener_(steps),
      prices_runs_(scheduler_->looks_ahead() && !config.rank_of_group && !config.exchange),
      work_(config.work ? config.work : std::make_shared<StepWork>()), config_(std::move(config)),
      max_sequences_(policy.max_sequences()), max_tokens_(policy.max_tokens()), state_(engine_config(policy, kv_laws)),
      ledger_(scheduler_->timing(), steps), memory_(config_.memory), exchange_(state_, max_sequences_),
      kv_laws_(kv_laws.size()) {
  if (!prices_runs_) config_.lookahead = 0;
  if (config_.stream.holds_back())
    reports_ = std::make_unique<StreamReports>(
        config_.stream, config_.speculation.tokens_per_decode(),
        [this](Seconds at, Seconds gap, std::int64_t count) { listener_.on_token_gaps(at, gap, count); },
        [this](Seconds at) { listener_.on_first_token(at); });
}

EngineConfig Replica::engine_config(const BatcherPolicy& policy, const std::vector<std::int64_t>& kv_laws) {
  EngineConfig engine;
  engine.kv.blocks = config_.kv_blocks;
  engine.kv.block_tokens = config_.block_tokens;
  engine.kv.prefix_caching = policy.prefix_caching();
  engine.kv.sharing = config_.sharing;
  engine.kv.grows = policy.kv_grows();
  engine.kv.budget = config_.budget;
  engine.kv.largest_chunk = policy.max_tokens();
  engine.kv.windows = config_.windows;
  engine.kv.window_pools = config_.window_pools;
  engine.kv.below = config_.below;
  engine.kv.max_sequences = max_sequences_;
  engine.kv.prefill_time = [this](std::int64_t cached, std::int64_t tokens) { return prefill_time(cached, tokens); };
  engine.kv_laws = kv_laws;
  engine.speculation = config_.speculation;
  engine.resident_adapters = config_.adapters.resident;
  engine.answers_first_token = config_.first_token != FirstToken::recomputed;
  engine.chunk_time = [this](std::int64_t cached, std::int64_t tokens) { return chunk_cost(cached, tokens).device; };
  return engine;
}

// Steps whose moment of planning lies before the message stand; those ahead are planned again with it.
void Replica::post(const Message& message) {
  interrupt(message.at);
  messages_.push_back() = message;
  if (config_.turns && message.kind == Message::Kind::submit) config_.turns->want(*this, message.at);
}

void Replica::stop(Seconds now) {
  interrupt(now);
  if (held_) end_held(std::max(held_->expected, Seconds(std::nextafter(now.si(), kNever.si()))));
  ledger_.stop(now);
}

bool Replica::quiet() const {
  return steps_.empty() && !held_ && messages_.empty() && state_.running.size() == 0 && state_.waiting.empty();
}

void Replica::submit(Request& request, bool decodes_elsewhere, Seconds at) {
  request.sequence = Sequence{};
  request.sequence.decodes_elsewhere = decodes_elsewhere;
  request.wait(at);
  post({Message::Kind::submit, &request, request.id, Outcome::completed, at});
}

void Replica::cancel(Request& request, Outcome why, Seconds at) {
  post({Message::Kind::cancel, &request, request.id, why, at});
}

void Replica::revise(Request& request, const Prompt& prompt, bool complete, Seconds at) {
  post({Message::Kind::revise, &request, request.id, Outcome::completed, at, prompt, complete});
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
  commit_before(at);
  ahead_.clear();
  if (held_) end_held(std::max(held_->expected, Seconds(std::nextafter(at.si(), kNever.si()))));
  exchange_of_step_.abandon();
  end_steps(at);
  const StepLedger::Cut cut = ledger_.lose(at);
  scheduler_->lose(at);
  steps_.clear();
  exchange_.lose();
  std::vector<Request*> lost;
  for (std::size_t i = 0; i < messages_.size(); ++i)
    if (messages_[i].kind == Message::Kind::submit || messages_[i].kind == Message::Kind::join)
      lost.push_back(messages_[i].request);
  state_.kv.offload.lose(state_, lost);
  std::vector<std::pair<Request*, std::int64_t>> unanswered;
  for (Request* request = state_.running.last(); request; request = request->sequence.previous)
    unanswered.emplace_back(request, state_.decoding.unanswered(*request, at, cut.decode_steps));
  state_.lose_all(lost);
  for (const auto& [request, tokens] : unanswered) {
    request->emitted -= tokens;
    ledger_.count_unanswered(tokens);
  }
  stamp_accepted(at);
  messages_.clear();
  if (config_.turns) config_.turns->leave(*this, at);
  return lost;
}

// The end of the step that is the scheduler's depth before the next one.
Seconds Replica::depth_before() const {
  const std::size_t planned = steps_.size() + ahead_.size();
  if (planned == 0) return kNever;
  return end_of(planned - std::min(planned, depth()));
}

bool Replica::may_plan(Seconds now) const { return !held_ && scheduler_->may_plan(now, steps_.size() + ahead_.size()); }

Seconds Replica::next_event() const {
  if (exchange_of_step_.open()) return exchange_of_step_.next_event();
  Seconds next = scheduler_->next_plan(woken_, depth_before());
  // Its turn comes; once it has tried in vain to plan something in it, something else has to happen first.
  if (steps_.empty() && ahead_.empty() && config_.turns && config_.turns->runs_from(*this) != tried_turn_)
    next = config_.turns->runs_from(*this);
  if (may_plan(woken_)) {
    next = std::min(next, state_.kv.next_arrival());
    if (!messages_.empty()) next = std::min(next, messages_.front().at);
  }
  for (std::size_t i = 0; i < steps_.size() && steps_[i].end < next; ++i)
    if (!steps_[i].finished.empty()) return steps_[i].end;
  return next;
}

void Replica::wake(Seconds now) {
  if (exchange_of_step_.open()) {
    if (!exchange_of_step_.advance(*config_.exchange, now)) return;
    end_held(now);
  }
  receive(now);
  plan_steps(now);
  if (config_.turns && steps_.empty())
    config_.turns->rest(*this, state_.running.size() > 0 || !state_.waiting.empty(), now);
}

void Replica::receive(Seconds now) {
  outcomes_.on_wake(now);
  woken_ = now;
  left_ = 0;
  commit_ahead(now, true);
  ledger_.spend_ended(now);
  state_.kv.offload.set_clock(now);
  end_steps(now);
  if (KvPreemption* swap = state_.kv.preemption()) swap->settle(now);
  read_messages(now);
  if (state_.kv.offload.end_fetches(state_, now) && config_.turns) config_.turns->want(*this, now);
  reserve_imports(now);
}

void Replica::plan_steps(Seconds now) {
  while (may_plan(now)) {
    if (config_.turns && !config_.turns->may_plan(*this, now)) return;
    if (config_.turns) tried_turn_ = config_.turns->runs_from(*this);
    if (!plan_step(now)) return;
    if (exchange_.expects() && state_.waiting.empty()) reserve_imports(now);  // what stood before them was admitted
    if (config_.turns) config_.turns->worked();
  }
  if (ahead_.empty() && !(config_.turns && config_.turns->contended())) plan_ahead();
}

void Replica::end_steps(Seconds now) {
  while (!steps_.empty() && steps_.front().end <= now) {
    for (Request* request : steps_.front().finished) {
      if (request->sequence.decodes_elsewhere) {
        exchange_.lend(*request);
      } else {
        state_.retire(*request);
        request->last_token = steps_.front().end;
        request->clock.enter(RequestPhase::decode, request->last_token);
      }
      left_ += request->prompt_tokens + request->output_tokens;
      outcomes_.on_outcome(*request, Outcome::completed, steps_.front().end);
    }
    steps_.pop_front();
  }
}

int Replica::adapter_of(const Request& request) const {
  return config_.adapters.law ? config_.adapters.law->of(request) : -1;
}

bool Replica::servable(const Request& request, bool decodes_elsewhere) const {
  const std::int64_t length = request.prompt_tokens + (decodes_elsewhere ? 1 : request.output_tokens);
  const std::int64_t entries =
      state_.kv.most_entries(request.prompt_tokens, decodes_elsewhere ? 0 : request.output_tokens);
  return length <= config_.max_model_len && state_.kv.pool.blocks_for(config_.speculation.tokens_to_allocate(entries)) +
                                                    state_.kv.window_blocks(request) <=
                                                state_.kv.pool.blocks();
}

bool Replica::holds_as_much_as(const Replica& other) const {
  const auto room = [](const Replica& r) {
    const KvMemory& kv = r.state_.kv;
    return std::tuple(r.config_.max_model_len, kv.pool.blocks(), kv.pool.block_tokens(),
                      r.config_.speculation.tokens_to_allocate(1));
  };
  return this == &other || room(*this) == room(other);
}

void Replica::read_messages(Seconds now) {
  while (!messages_.empty() && messages_.front().at <= now) {
    const Message message = std::move(messages_.front());
    messages_.pop_front();
    read(message, now);
  }
}

void Replica::read(const Message& message, Seconds now) {
  switch (message.kind) {
    case Message::Kind::submit: {
      Request& request = *message.request;
      if (request.schedule == kNever) request.enqueue = now;
      request.sequence.adapter = adapter_of(request);
      if (servable(request, request.sequence.decodes_elsewhere)) {
        state_.waiting.push(request);
      } else {
        request.sequence.state = Sequence::State::finishing;
        request.reason = Reason::too_long;
        outcomes_.on_outcome(request, Outcome::dropped, now);
      }
      break;
    }
    case Message::Kind::cancel:
      if (message.request->id != message.id) break;
      state_.kv.offload.cancel(state_, *message.request);
      ledger_.abandon(*message.request, state_.decoding, now);
      if (state_.cancel(*message.request)) {
        stamp_accepted(now);
        outcomes_.on_outcome(*message.request, message.why, now);
      }
      break;
    case Message::Kind::revise: {
      Request& request = *message.request;
      if (request.id != message.id || request.sequence.state == Sequence::State::finishing) break;
      state_.revise(request, message.prompt, message.complete, message.at);
      if (servable(request, request.sequence.decodes_elsewhere)) break;
      state_.cancel(request);
      request.reason = Reason::too_long;
      outcomes_.on_outcome(request, Outcome::dropped, now);
      break;
    }
    case Message::Kind::expect: exchange_.expect(*message.request, message.id, adapter_of(*message.request)); break;
    case Message::Kind::join:
      if (message.request->emitted == 0) {  // its last prompt token is computed here
        message.request->compute(now);
      } else {
        if (!message.request->answered()) {  // the first token came with the entries
          message.request->latest_token = message.at;
          stamp_first(*message.request, message.at);
          if (!reports_) message.request->clock.enter(RequestPhase::decode, message.at);
        }
        if (!reports_) message.request->clock.enter(RequestPhase::decode, now);
      }
      exchange_.join(message.id);
      if (!reports_ || message.request->emitted == 0) break;
      reports_->answered(*message.request, message.at);
      if (message.request->answered()) message.request->clock.enter(RequestPhase::decode, now);
      break;
    case Message::Kind::forget: exchange_.forget(message.id); break;
    case Message::Kind::release: exchange_.release(message.id); break;
  }
}

void Replica::reserve_imports(Seconds now) {
  while (const KvImport* import = exchange_.reserve_next()) {
    const std::int64_t here = import->hit_blocks * state_.kv.pool.block_tokens();
    outcomes_.on_reserved(*import->request, import->request->prompt_tokens - here, now);
  }
}

std::int64_t Replica::cached_tokens(const Prompt& prompt, std::int64_t tokens, Seconds at) {
  commit_before(at);
  const std::int64_t hit = state_.kv.pool.match(prompt, tokens).blocks;
  return hit * state_.kv.pool.block_tokens() + state_.kv.offload.spared_tokens(prompt, tokens, hit, at);
}

StepUse Replica::used_until(Seconds at) {
  commit_before(at);
  StepUse used = ledger_.used_until(at);
  if (held_ && held_->start < at) {
    const double share = std::min(1.0, (at - held_->start) / (held_->expected - held_->start));
    used.add({Seconds(), draft_cost_.energy, draft_cost_.busy}, share);
    used.busy += at - held_->start;
  }
  return used;
}

void Replica::check_invariants(Seconds now) const {
  const KvCache& pool = state_.kv.pool;
  if (pool.available() < 0 || pool.used() < 0 || pool.used() > pool.blocks())
    throw std::logic_error("INV-4: KV blocks do not add up in replica " + std::to_string(config_.index));
  if (state_.running.size() == 0 && !exchange_.lends() && state_.kv.offload.fetching() == 0 && pool.used() != 0)
    throw std::logic_error("INV-4: replica " + std::to_string(config_.index) + " holds KV blocks for nobody");
  memory_.check_invariants(config_.index);
  for (const auto& store : state_.kv.stores()) store->check_invariants(!state_.waiting.empty());
  if (ledger_.totals().busy > now * (1 + 1e-9))
    throw std::logic_error("INV-8: replica " + std::to_string(config_.index) +
                           " was busy for longer than the run lasted");
}

}  // namespace llmscape::serving
