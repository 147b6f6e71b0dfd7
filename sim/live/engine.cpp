// SPDX-License-Identifier: Apache-2.0
#include "sim/live/engine.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/random.hpp"

namespace llmscape::live {

using serving::Request;

namespace {

// The clocks tick in nanoseconds; more digits would be noise of subtractions.
double rounded(double seconds) { return std::round(seconds * 1e9) / 1e9; }

}  // namespace

Engine::Engine(const LlamaShape& shape, const serving::BatcherPolicy& policy, Executor& executor,
               const EngineSettings& settings)
    : shape_(shape), settings_(settings), max_sequences_(policy.max_sequences()), max_tokens_(policy.max_tokens()),
      batcher_(policy.make()), executor_(executor), state_({.kv = {.blocks = settings.kv_blocks,
                                                                   .block_tokens = static_cast<int>(kBlockTokens),
                                                                   .prefix_caching = policy.prefix_caching(),
                                                                   .grows = policy.kv_grows()},
                                                            .kv_laws = {0}}),
      memory_(settings.kv_blocks, kBlockTokens), clock_(settings.clock) {
  if (policy.depth() != 1 || policy.prefix_caching())
    throw std::invalid_argument("the mini engine schedules synchronously and has no prefix cache");
}

// All memory that steps need, so that none is asked for while they are timed.
void Engine::prepare(const std::vector<LiveRequest>& requests) {
  const RandomStreams streams(settings_.seed);
  for (const LiveRequest& request : requests) {
    Sequence& s = sequences_.emplace_back();
    s.id = sequences_.size() - 1;
    s.prompt_tokens = request.prompt_tokens;
    s.output_tokens = request.output_tokens;
    s.prompt = {{s.id, s.prompt_tokens, 0}};
    s.arrival = Seconds(request.arrival_s);
    RandomStream random = streams.stream("prompt", s.id);
    s.tokens.reserve(static_cast<std::size_t>(s.prompt_tokens + s.output_tokens));
    for (std::int64_t i = 0; i < s.prompt_tokens; ++i)
      s.tokens.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(shape_.vocabulary))));
    s.blocks.reserve(static_cast<std::size_t>(state_.kv.pool.blocks_for(s.prompt_tokens + s.output_tokens)));
  }
  const auto sequences = static_cast<std::size_t>(max_sequences_), tokens = static_cast<std::size_t>(max_tokens_);
  active_.reserve(sequences);
  decoding_.reserve(sequences);
  input_.tokens.reserve(tokens);
  input_.positions.reserve(tokens);
  input_.contexts.reserve(sequences);
  input_.chunks.reserve(sequences);
  input_.tables.reserve(sequences);
  plan_.chunks.reserve(sequences);
  plan_.finished.reserve(sequences);
  next_.resize(sequences);
}

void Engine::run(const std::vector<LiveRequest>& requests, const std::function<void(double share)>& progress) {
  prepare(requests);
  const auto before = executor_.joules();
  clock_ = Clock(settings_.clock);
  serve(progress);
  if (const auto after = executor_.joules(); before && after) energy_j_ = *after - *before;
}

void Engine::serve(const std::function<void(double share)>& progress) {
  while (true) {
    if (idle() && arrived_ < sequences_.size()) clock_.wait_until(sequences_[arrived_].arrival.si());
    if (clock_.now() >= settings_.closes_s) close();
    if (idle() && arrived_ == sequences_.size()) return;
    const double start_s = clock_.now(), wall_start = wall_seconds(), start = clock_.read();
    read_arrivals();
    plan();
    const double planned = clock_.read();
    gather();
    const double gathered = clock_.read();
    const StepTimes times = executor_.run(input_, next_);
    const double issue_s = gathered - planned + times.launch_s;
    clock_.pass(planned - start + issue_s + times.device_s);
    end_step(clock_.now());
    steps_.push_back({input_.chunks, input_.contexts, start_s, planned - start, issue_s, times.device_s,
                      wall_seconds() - wall_start});
    progress(share_done());
  }
}

void Engine::read_arrivals() {
  const Seconds now(clock_.now());
  for (; arrived_ < sequences_.size() && sequences_[arrived_].arrival <= now; ++arrived_) {
    Sequence& s = sequences_[arrived_];
    s.enqueue = now;
    state_.waiting.push(s);
  }
}

// Nobody else is taken up. A request that had been and was preempted goes on.
void Engine::close() {
  for (std::size_t i = 0; i < arrived_; ++i) {
    Sequence& s = sequences_[i];
    if (s.sequence.state == serving::Sequence::State::waiting && s.schedule == serving::kNever) state_.waiting.erase(s);
  }
  arrived_ = sequences_.size();
}

void Engine::plan() {
  const Seconds now(clock_.now());
  const std::int64_t preemptions = state_.counts.preemptions;
  plan_.clear();
  batcher_->plan(state_, now, plan_);
  // As in a simulated replica: where all were preempted, the blocks are free for the next attempt.
  if (plan_.empty() && state_.counts.preemptions > preemptions) batcher_->plan(state_, now, plan_);
  if (plan_.empty()) throw std::logic_error("the batcher plans nothing though requests wait");
}

// Turns the plan into rows and tables, and moves the blocks that it moved in the books.
void Engine::gather() {
  input_.clear();
  decoding_.clear();
  for (Sequence* s : active_) {
    if (s->preemptions == s->givings) continue;
    memory_.release(s->blocks);
    s->decodes = false;
    s->givings = s->preemptions;
  }
  std::erase_if(active_, [](const Sequence* s) { return s->sequence.state == serving::Sequence::State::waiting; });
  for (Sequence* s : active_) {
    const auto known = static_cast<std::int64_t>(s->tokens.size());
    if (!s->decodes || s->prompt_tokens + state_.decoding.emitted(*s) == known) continue;
    memory_.hold(s->blocks, known);
    decoding_.push_back(s);
    input_.tokens.push_back(s->tokens.back());
    input_.positions.push_back(known - 1);
    input_.contexts.push_back(known);
    input_.tables.emplace_back(s->blocks);
  }
  for (const serving::PlannedChunk& chunk : plan_.chunks) {
    auto& s = static_cast<Sequence&>(*chunk.request);
    if (std::ranges::find(active_, &s) == active_.end()) active_.push_back(&s);
    const std::int64_t end = chunk.work.cached + chunk.work.tokens;
    memory_.hold(s.blocks, end);
    for (std::int64_t i = chunk.work.cached; i < end; ++i) {
      input_.tokens.push_back(s.tokens[static_cast<std::size_t>(i)]);
      input_.positions.push_back(i);
    }
    input_.chunks.push_back(chunk.work);
    input_.tables.emplace_back(s.blocks);
  }
  if (static_cast<std::int64_t>(decoding_.size()) != plan_.decodes)
    throw std::logic_error("the plan's decodes are not those whose answers grew");
}

void Engine::end_step(double end) {
  const Seconds now(end);
  auto next = next_.begin();
  const auto add = [&](Sequence& s) {
    s.tokens.push_back(*next++);
    if (s.first_token == serving::kNever) s.first_token = now;
  };
  for (Sequence* s : decoding_) add(*s);
  for (const serving::PlannedChunk& chunk : plan_.chunks) {
    if (!chunk.work.ends_prompt) continue;
    auto& s = static_cast<Sequence&>(*chunk.request);
    s.decodes = true;
    add(s);
  }
  for (Request* request : plan_.finished) {
    auto& s = static_cast<Sequence&>(*request);
    s.last_token = now;
    ++finished_;
    state_.retire(s);
    memory_.release(s.blocks);
    std::erase(active_, &s);
  }
}

double Engine::share_done() const {
  return std::max(static_cast<double>(finished_) / static_cast<double>(sequences_.size()),
                  std::min(1.0, clock_.now() / settings_.closes_s));
}

traces::EngineRecord Engine::record() const {
  traces::EngineRecord record;
  record.context = executor_.context();
  record.model = model_yaml(shape_, executor_.format());
  record.backend = executor_.backend();
  record.clock = clock_.name();
  record.max_sequences = max_sequences_;
  record.max_batched_tokens = max_tokens_;
  record.block_tokens = kBlockTokens;
  record.kv_blocks = settings_.kv_blocks;
  record.energy_j = energy_j_;
  record.steps = steps_;
  for (traces::EngineStep& step : record.steps)
    for (double* time : {&step.start_s, &step.schedule_s, &step.issue_s, &step.device_s, &step.wall_s})
      *time = rounded(*time);
  for (const Sequence& s : sequences_) {
    if (s.last_token == serving::kNever) continue;
    record.requests.push_back({std::to_string(s.id), s.prompt_tokens, s.output_tokens, rounded(s.arrival.si()),
                               rounded(s.schedule.si()), rounded(s.first_token.si()), rounded(s.last_token.si())});
  }
  return record;
}

std::span<const std::int32_t> Engine::answer(std::size_t request) const {
  const Sequence& s = sequences_.at(request);
  return std::span(s.tokens).subspan(static_cast<std::size_t>(s.prompt_tokens));
}

}  // namespace llmscape::live
