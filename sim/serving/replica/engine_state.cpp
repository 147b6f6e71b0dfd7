// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/engine_state.hpp"

#include <algorithm>
#include <utility>

#include "workloads/streams/prompts.hpp"

namespace llmscape::serving {

EngineState::EngineState(EngineConfig config)
    : decoding(config.kv_laws, config.kv.block_tokens, config.speculation, config.kv.budget.ring()),
      running(config.resident_adapters), kv(std::move(config.kv)), answers_first_token_(config.answers_first_token),
      chunk_time_(std::move(config.chunk_time)) {}

void EngineState::start(Request& request, Seconds now) {
  ++counts.touched;
  waiting.erase(request);
  running.enter(request);
  request.sequence.state = Sequence::State::prefilling;
  if (request.schedule == kNever) request.schedule = now;
  request.compute(now);
  prefilling.push_back(&request);
}

Request& EngineState::admit(Request& request, std::int64_t hit_blocks, Seconds now) {
  start(request, now);
  const KvMemory::Reuse reuse = kv.begin(request, hit_blocks);
  request.reused += reuse.tokens;
  counts.reused_tokens += reuse.tokens;
  counts.fetched_tokens += reuse.fetched;
  return request;
}

void EngineState::swap_in(Request& request, Seconds now) {
  start(request, now);
  kv.swap_in(request, now);
}

void EngineState::schedule_chunk(Request& request, std::int64_t tokens, StepPlan& plan) {
  ++counts.touched;
  const std::int64_t cached = request.sequence.computed;
  const bool begins = request.prefilled == 0;
  kv.extend(request, tokens);
  request.prefilled += tokens;
  counts.prefilled_tokens += tokens;
  const bool ends = request.complete && request.sequence.computed == request.tokens_to_compute();
  plan.chunks.push_back({&request, {tokens, cached, ends}, begins, false});
  if (!ends) return;
  prefilling.erase(std::find(prefilling.begin(), prefilling.end(), &request));
  if (answers_first_token_ || !request.sequence.decodes_elsewhere) {
    ++request.emitted;
    ++counts.answers;
  }
  if (request.emitted == request.output_tokens || request.sequence.decodes_elsewhere) {
    request.sequence.state = Sequence::State::finishing;
    plan.finished.push_back(&request);
  } else {
    kv.end_prompt(request);
    decoding.join(request);
  }
}

void EngineState::schedule_part(Request& request, std::int64_t tokens, StepPlan& plan) {
  ++counts.touched;
  plan.chunks.push_back({&request, {tokens, request.sequence.computed, false}, request.prefilled == 0, true});
}

void EngineState::revise(Request& request, const Prompt& prompt, bool complete, Seconds at) {
  ++counts.touched;
  std::int64_t kept = workloads::common_prefix(request.prompt, prompt);
  request.prompt = prompt;
  request.prompt_tokens = tokens_of(prompt);
  request.complete = complete;
  request.latest_version = at;
  if (complete) kept = std::min(kept, request.prompt_tokens - 1);
  const std::int64_t dropped = kv.truncate(request, kept);
  request.invalidated += dropped;
  counts.invalidated_tokens += dropped;
  waiting.restand(request);
}

void EngineState::schedule_decodes(StepPlan& plan) {
  plan.decodes = decoding.size();
  if (plan.decodes == 0) return;
  plan.attended.clear();
  for (const models::Attended& law : decoding.attended()) plan.attended.push_back(law);
  plan.drafts = decoding.tokens_per_decode() - 1;
  plan.late = decoding.late();
  if (plan.late > 0) {
    const auto drafted = decoding.drafted();
    plan.drafted.assign(drafted.begin(), drafted.end());
  }
  kv.grow(decoding);
  counts.answers += plan.decodes;
  const std::size_t before = plan.finished.size();
  decoding.advance(plan.finished);
  for (std::size_t i = before; i < plan.finished.size(); ++i) {
    ++counts.touched;
    kv.settle(*plan.finished[i]);
  }
}

// Leaves the engine wherever the request stands; its books are up to date and its blocks still held afterwards.
void EngineState::stop(Request& request) {
  ++counts.touched;
  if (request.sequence.state == Sequence::State::decoding) {
    if (decoding.has_decoded(request)) {
      request.latest_token = gaps.last();
    } else {
      gaps.leave(request.latest_token);
    }
    decoding.leave(request);
    kv.settle(request);
  } else {
    prefilling.erase(std::find(prefilling.begin(), prefilling.end(), &request));
  }
}

Request* EngineState::preempt_last(Seconds now, bool decoding_only, Preempted entries) {
  Request* victim = nullptr;
  for (Request* r = running.last(); r; r = r->sequence.previous) {
    if (r->sequence.state == Sequence::State::finishing) continue;
    if (decoding_only && r->sequence.state != Sequence::State::decoding) continue;
    if (!victim || r->priority > victim->priority) victim = r;
  }
  if (victim) preempt(*victim, now, entries);
  return victim;
}

// Whole blocks of the answer become findable, as vLLM caches them, when nobody but the request itself could have asked
// for them before: at its end.
void EngineState::preempt(Request& victim, Seconds now, Preempted entries) {
  stop(victim);  // first: what a decoding sequence has computed is known from then on
  if (entries != Preempted::recompute && kv.may_swap_out(victim, entries == Preempted::by_cost, now)) {
    kv.swap_out(victim, now);
    ++counts.swaps;
  }
  kv.publish(victim);
  kv.release(victim);
  running.leave(victim);
  victim.sequence.computed = 0;
  if (victim.sequence.swapped == 0) victim.sequence.dropped = 0;
  victim.sequence.sought_below = false;
  victim.sequence.state = Sequence::State::waiting;
  victim.wait(std::max(now, victim.latest_token));  // what is planned of it still runs
  ++victim.preemptions;
  ++counts.preemptions;
  waiting.push(victim);
}

bool EngineState::cancel(Request& request) {
  if (request.sequence.state == Sequence::State::finishing) return false;
  if (request.sequence.state == Sequence::State::waiting) {
    waiting.erase(request);
    if (request.sequence.swapped > 0) kv.truncate(request, 0);
  } else {
    stop(request);
    kv.publish(request);
    kv.release(request);
    running.leave(request);
  }
  request.sequence.state = Sequence::State::finishing;
  return true;
}

void EngineState::retire(Request& request) {
  ++counts.touched;
  kv.publish(request);
  kv.release(request);
  running.leave(request);
}

std::int64_t EngineState::emitted_tokens() const {
  std::int64_t tokens = counts.answers + decoding.accepted();
  for (const Request* r = running.last(); r; r = r->sequence.previous)
    if (r->sequence.state == Sequence::State::decoding) tokens += decoding.accepted(*r);
  return tokens;
}

void EngineState::lose_all(std::vector<Request*>& lost) {
  while (!waiting.empty()) {
    waiting.front().sequence.swapped = waiting.front().sequence.dropped = 0;
    lost.push_back(&waiting.front());
    waiting.erase(waiting.front());
  }
  while (Request* request = running.last()) {
    if (request->sequence.state != Sequence::State::finishing) stop(*request);
    kv.release(*request);
    running.leave(*request);
    lost.push_back(request);
  }
  kv.forget();
  running.forget_adapters();
}

}  // namespace llmscape::serving
