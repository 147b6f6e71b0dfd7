// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/engine_state.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/streams/prompts.hpp"

namespace llmscape::serving {

void WaitingQueue::push(Request& request) { queue_.insert({request.priority, request.id, &request}); }

void WaitingQueue::erase(Request& request) { queue_.erase({request.priority, request.id, &request}); }

void StepPlan::clear() {
  chunks.clear();
  finished.clear();
  prefill_layers = 1;
  decodes = late = idle_decodes = 0;
  attended.clear();
  drafted.clear();
  host = {};
  steady = false;
}

EngineState::EngineState(std::int64_t kv_blocks, int block_tokens, bool prefix_caching, bool kv_grows,
                         const std::vector<std::int64_t>& kv_laws, const Speculation& speculation,
                         std::int64_t resident_adapters, std::int64_t kept_prompt)
    : kv(kv_blocks, block_tokens, prefix_caching), decoding(kv_laws, block_tokens, speculation),
      adapters(resident_adapters), kv_grows_(kv_grows), kept_prompt_(kept_prompt) {}

void EngineState::link(Request& request) {
  request.previous = last_;
  request.next = nullptr;
  if (last_) last_->next = &request;
  last_ = &request;
  ++running_;
  if (!windows.empty()) kv.take_for_decodes(window_blocks(request));
  request.bubble -= bubbles;
  adapters.use(request.adapter);
}

void EngineState::unlink(Request& request) {
  if (request.previous) request.previous->next = request.next;
  if (request.next) request.next->previous = request.previous;
  if (last_ == &request) last_ = request.previous;
  request.previous = request.next = nullptr;
  --running_;
  if (!windows.empty()) kv.give_back(window_blocks(request));
  request.bubble += bubbles;
  adapters.leave(request.adapter);
}

const Prompt& EngineState::content(const Request& request) const {
  if (request.emitted == 0) return request.prompt;
  scratch_ = request.prompt;
  scratch_.push_back({request.output, request.emitted, 0});
  return scratch_;
}

void EngineState::start(Request& request, Seconds now) {
  ++touched;
  waiting.erase(request);
  link(request);
  request.state = Request::State::prefilling;
  if (request.schedule == kNever) request.schedule = now;
  request.compute(now);
}

Request& EngineState::admit(Request& request, std::int64_t hit_blocks, Seconds now) {
  start(request, now);
  kv.share(request.lease, content(request), hit_blocks);
  request.computed = hit_blocks * kv.block_tokens();
  request.reused += request.computed;
  reused_tokens += request.computed;
  fetched_tokens += std::max<std::int64_t>(0, std::min(request.computed, request.fetched_to) - request.fetched_from);
  request.fetched_from = request.fetched_to = 0;
  prefilling.push_back(&request);
  return request;
}

void EngineState::swap_in(Request& request, Seconds now) {
  start(request, now);
  const std::int64_t blocks = blocks_swapped(request);
  kv.take(request.lease, blocks);
  request.kv_ready = swap->read(blocks, now);
  request.computed = std::exchange(request.swapped, 0);
  prefilling.push_back(&request);
}

std::int64_t EngineState::blocks_for_chunk(const Request& request, std::int64_t tokens) const {
  return std::max<std::int64_t>(0, kv.blocks_for(request.computed + tokens) - request.lease.blocks());
}

std::int64_t EngineState::window_blocks(const Request& request) const {
  if (windows.empty()) return 0;
  double blocks = 0;
  const std::int64_t whole = kv.blocks_for(request.prompt_tokens + request.output_tokens);
  for (const WindowLayers& layers : windows)
    blocks += layers.weight * static_cast<double>(std::min(whole, layers.most));
  return static_cast<std::int64_t>(std::ceil(blocks));
}

void EngineState::reserve(Request& request, std::int64_t tokens) {
  const std::int64_t more = kv.blocks_for(tokens) - request.lease.blocks();
  if (more > 0) kv.take(request.lease, more);
}

// The blocks that a sequence took while it decoded were counted for all together: tell its lease.
void EngineState::settle_blocks(Request& request) {
  if (kv_grows_) KvCache::hold(request.lease, kv.blocks_for(request.room) - request.lease.blocks());
}

void EngineState::schedule_chunk(Request& request, std::int64_t tokens, StepPlan& plan) {
  ++touched;
  const std::int64_t cached = request.computed;
  const bool begins = request.prefilled == 0;
  if (const std::int64_t blocks = blocks_for_chunk(request, tokens); blocks > 0) kv.take(request.lease, blocks);
  request.computed += tokens;
  request.prefilled += tokens;
  prefilled_tokens += tokens;
  kv.publish(request.lease, content(request), request.computed);
  const bool ends = request.complete && request.computed == request.tokens_to_compute();
  plan.chunks.push_back({&request, {tokens, cached, ends}, begins, false});
  if (!ends) return;
  prefilling.erase(std::find(prefilling.begin(), prefilling.end(), &request));
  if (hand_over_answers || !request.hand_over) {
    ++request.emitted;
    ++answers_;
  }
  if (request.emitted == request.output_tokens || request.hand_over) {
    request.state = Request::State::finishing;
    plan.finished.push_back(&request);
  } else {
    if (kept_prompt_ > 0) cut_prompt(request);
    decoding.join(request);
  }
}

void EngineState::cut_prompt(Request& request) {
  request.computed -= std::max<std::int64_t>(0, request.prompt_tokens - kept_prompt_);
  kv.shrink(request.lease, kv.blocks_for(request.computed));
}

void EngineState::schedule_layers(Request& request, std::int64_t tokens, StepPlan& plan) {
  ++touched;
  plan.chunks.push_back({&request, {tokens, request.computed, false}, request.prefilled == 0, true});
}

void EngineState::revise(Request& request, const Prompt& prompt, bool complete, Seconds at) {
  ++touched;
  std::int64_t kept = workloads::common_prefix(request.prompt, prompt);
  request.prompt = prompt;
  request.prompt_tokens = tokens_of(prompt);
  request.complete = complete;
  request.latest_version = at;
  if (complete) kept = std::min(kept, request.prompt_tokens - 1);
  std::int64_t& held = request.swapped > 0 ? request.swapped : request.computed;
  if (held <= kept) return;
  request.invalidated += held - kept;
  invalidated_tokens += held - kept;
  if (request.swapped > 0) swap->drop(kv.blocks_for(held) - kv.blocks_for(kept));
  else kv.shrink(request.lease, kv.blocks_for(kept));
  held = kept;
}

void EngineState::schedule_decodes(StepPlan& plan) {
  plan.decodes = decoding.size();
  if (plan.decodes == 0) return;
  const auto attended = decoding.attended();
  plan.attended.assign(attended.begin(), attended.end());
  plan.late = decoding.late();
  if (plan.late > 0) {
    const auto drafted = decoding.drafted();
    plan.drafted.assign(drafted.begin(), drafted.end());
  }
  const std::int64_t blocks = blocks_for_decodes();
  if (blocks > 0) kv.take_for_decodes(blocks);
  else if (blocks < 0) kv.give_back(-blocks);
  answers_ += plan.decodes;
  const std::size_t before = plan.finished.size();
  decoding.advance(plan.finished);
  for (std::size_t i = before; i < plan.finished.size(); ++i) {
    ++touched;
    settle_blocks(*plan.finished[i]);
  }
}

// Leaves the engine wherever the request stands; its books are up to date and its blocks still held afterwards.
void EngineState::stop(Request& request) {
  ++touched;
  if (request.state == Request::State::decoding) {
    if (decoding.has_decoded(request)) {
      request.latest_token = gaps.last();
    } else {
      gaps.leave(request.latest_token);
    }
    decoding.leave(request);
    settle_blocks(request);
  } else {
    prefilling.erase(std::find(prefilling.begin(), prefilling.end(), &request));
  }
}

// Whole blocks of the answer become findable, as vLLM caches them, when nobody but the request itself could have asked
// for them before: at its end. Where it answered more than the mean of its passes, what it holds may end earlier.
void EngineState::free_blocks(Request& request) {
  kv.publish(request.lease, content(request), std::min(request.computed, request.lease.blocks() * kv.block_tokens()));
  kv.release(request.lease);
}

Request* EngineState::preempt_last(Seconds now, bool decoding_only) {
  Request* victim = nullptr;
  for (Request* r = last_; r; r = r->previous) {
    if (r->state == Request::State::finishing) continue;
    if (decoding_only && r->state != Request::State::decoding) continue;
    if (!victim || r->priority > victim->priority) victim = r;
  }
  if (victim) preempt(*victim, now);
  return victim;
}

void EngineState::preempt(Request& victim, Seconds now) {
  stop(victim);
  put_back(victim, now);
}

void EngineState::put_back(Request& victim, Seconds now) {
  free_blocks(victim);
  unlink(victim);
  victim.computed = 0;
  victim.sought_below = false;
  victim.state = Request::State::waiting;
  victim.wait(std::max(now, victim.latest_token));  // what is planned of it still runs
  ++victim.preemptions;
  ++preemptions;
  waiting.push(victim);
}

void EngineState::swap_out(Request& victim, Seconds now) {
  stop(victim);
  // One token is left to compute: the next answer comes of it.
  victim.swapped = victim.complete ? std::min(victim.computed, victim.tokens_to_compute() - 1) : victim.computed;
  victim.kv_ready = swap->write(blocks_swapped(victim), now);
  ++swaps;
  put_back(victim, now);
}

bool EngineState::cancel(Request& request) {
  if (request.state == Request::State::finishing) return false;
  if (request.state == Request::State::waiting) {
    waiting.erase(request);
    if (request.swapped > 0) swap->drop(blocks_swapped(request));
  } else {
    stop(request);
    free_blocks(request);
    unlink(request);
  }
  request.state = Request::State::finishing;
  return true;
}

void EngineState::retire(Request& request) {
  ++touched;
  free_blocks(request);
  unlink(request);
}

Lease EngineState::lend(Request& request) {
  ++touched;
  kv.publish(request.lease, content(request), request.computed);
  unlink(request);
  return std::exchange(request.lease, {});
}

bool EngineState::reserve(KvImport& import, std::int64_t max_sequences) {
  if (running() >= std::min(max_sequences, most_sequences) || !adapters.fits(import.adapter)) return false;
  const Request& request = *import.request;
  const PrefixTree::Match hit = kv.match(request.prompt, request.prompt_tokens);
  const std::int64_t tokens = request.prompt_tokens + (kv_grows_ ? 0 : request.output_tokens);
  const std::int64_t blocks = kv.blocks_for(tokens) - hit.blocks;
  if (kv.available() - hit.unreferenced_blocks < blocks) return false;
  ++touched;
  kv.share(import.lease, request.prompt, hit.blocks);
  kv.take(import.lease, blocks);
  import.hit_blocks = hit.blocks;
  adapters.use(import.adapter);
  ++importing_;
  return true;
}

void EngineState::join(KvImport& import) {
  ++touched;
  Request& request = *import.request;
  --importing_;
  request.hand_over = false;
  request.lease = std::exchange(import.lease, {});
  if (request.emitted == 0) --request.computed;  // the last prompt token is computed here, and answers the first one
  kv.publish(request.lease, request.prompt, request.computed);
  request.adapter = import.adapter;
  link(request);
  adapters.leave(import.adapter);  // the request itself uses it now
  if (request.emitted == 0) {
    request.state = Request::State::prefilling;
    prefilling.push_back(&request);
    return;
  }
  decoding.join(request);
  gaps.join(request.latest_token);
}

void EngineState::drop(KvImport& import) {
  --importing_;
  adapters.leave(import.adapter);
  kv.release(import.lease);
}

std::int64_t EngineState::emitted_tokens() const {
  std::int64_t tokens = answers_ + decoding.accepted();
  for (const Request* r = last_; r; r = r->previous)
    if (r->state == Request::State::decoding) tokens += decoding.accepted(*r);
  return tokens;
}

void EngineState::lose_all(std::vector<Request*>& lost) {
  while (!waiting.empty()) {
    waiting.front().swapped = 0;
    lost.push_back(&waiting.front());
    waiting.erase(waiting.front());
  }
  if (swap) swap->forget();
  while (last_) {
    Request& request = *last_;
    if (request.state != Request::State::finishing) stop(request);
    kv.release(request.lease);
    unlink(request);
    lost.push_back(&request);
  }
  kv.forget();
  adapters.forget();
}

}  // namespace llmscape::serving
