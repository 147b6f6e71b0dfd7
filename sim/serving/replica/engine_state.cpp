// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/engine_state.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/streams/prompts.hpp"

namespace llmscape::serving {

EngineState::EngineState(std::int64_t kv_blocks, int block_tokens, bool prefix_caching, bool kv_grows,
                         const std::vector<std::int64_t>& kv_laws, const Speculation& speculation,
                         std::int64_t resident_adapters, std::int64_t kept_prompt)
    : kv(kv_blocks, block_tokens, prefix_caching), decoding(kv_laws, block_tokens, speculation),
      adapters(resident_adapters), kv_grows_(kv_grows), kept_prompt_(kept_prompt) {}

void EngineState::link(Request& request) {
  request.sequence.previous = last_;
  request.sequence.next = nullptr;
  if (last_) last_->sequence.next = &request;
  last_ = &request;
  ++running_;
  if (!windows.empty()) kv.take_for_decodes(window_blocks(request));
  request.bubble -= bubbles;
  adapters.use(request.sequence.adapter);
}

void EngineState::unlink(Request& request) {
  if (request.sequence.previous) request.sequence.previous->sequence.next = request.sequence.next;
  if (request.sequence.next) request.sequence.next->sequence.previous = request.sequence.previous;
  if (last_ == &request) last_ = request.sequence.previous;
  request.sequence.previous = request.sequence.next = nullptr;
  --running_;
  if (!windows.empty()) kv.give_back(window_blocks(request));
  request.bubble += bubbles;
  adapters.leave(request.sequence.adapter);
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
  request.sequence.state = Sequence::State::prefilling;
  if (request.schedule == kNever) request.schedule = now;
  request.compute(now);
}

Request& EngineState::admit(Request& request, std::int64_t hit_blocks, Seconds now) {
  start(request, now);
  kv.share(request.sequence.lease, content(request), hit_blocks);
  request.sequence.computed = hit_blocks * kv.block_tokens();
  request.reused += request.sequence.computed;
  reused_tokens += request.sequence.computed;
  fetched_tokens += std::max<std::int64_t>(
      0, std::min(request.sequence.computed, request.sequence.fetched_to) - request.sequence.fetched_from);
  request.sequence.fetched_from = request.sequence.fetched_to = 0;
  prefilling.push_back(&request);
  return request;
}

void EngineState::swap_in(Request& request, Seconds now) {
  start(request, now);
  const std::int64_t blocks = blocks_swapped(request);
  kv.take(request.sequence.lease, blocks);
  request.sequence.kv_ready = swap->read(blocks, now);
  request.sequence.computed = std::exchange(request.sequence.swapped, 0);
  prefilling.push_back(&request);
}

std::int64_t EngineState::blocks_for_chunk(const Request& request, std::int64_t tokens) const {
  return std::max<std::int64_t>(0, kv.blocks_for(request.sequence.computed + tokens) - request.sequence.lease.blocks());
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
  const std::int64_t more = kv.blocks_for(tokens) - request.sequence.lease.blocks();
  if (more > 0) kv.take(request.sequence.lease, more);
}

// The blocks that a sequence took while it decoded were counted for all together: tell its lease.
void EngineState::settle_blocks(Request& request) {
  if (kv_grows_)
    KvCache::hold(request.sequence.lease, kv.blocks_for(request.sequence.room) - request.sequence.lease.blocks());
}

void EngineState::schedule_chunk(Request& request, std::int64_t tokens, StepPlan& plan) {
  ++touched;
  const std::int64_t cached = request.sequence.computed;
  const bool begins = request.prefilled == 0;
  if (const std::int64_t blocks = blocks_for_chunk(request, tokens); blocks > 0)
    kv.take(request.sequence.lease, blocks);
  request.sequence.computed += tokens;
  request.prefilled += tokens;
  prefilled_tokens += tokens;
  kv.publish(request.sequence.lease, content(request), request.sequence.computed);
  const bool ends = request.complete && request.sequence.computed == request.tokens_to_compute();
  plan.chunks.push_back({&request, {tokens, cached, ends}, begins, false});
  if (!ends) return;
  prefilling.erase(std::find(prefilling.begin(), prefilling.end(), &request));
  if (hand_over_answers || !request.sequence.hand_over) {
    ++request.emitted;
    ++answers_;
  }
  if (request.emitted == request.output_tokens || request.sequence.hand_over) {
    request.sequence.state = Sequence::State::finishing;
    plan.finished.push_back(&request);
  } else {
    if (kept_prompt_ > 0) cut_prompt(request);
    decoding.join(request);
  }
}

void EngineState::cut_prompt(Request& request) {
  request.sequence.computed -= std::max<std::int64_t>(0, request.prompt_tokens - kept_prompt_);
  kv.shrink(request.sequence.lease, kv.blocks_for(request.sequence.computed));
}

void EngineState::schedule_layers(Request& request, std::int64_t tokens, StepPlan& plan) {
  ++touched;
  plan.chunks.push_back({&request, {tokens, request.sequence.computed, false}, request.prefilled == 0, true});
}

void EngineState::revise(Request& request, const Prompt& prompt, bool complete, Seconds at) {
  ++touched;
  std::int64_t kept = workloads::common_prefix(request.prompt, prompt);
  request.prompt = prompt;
  request.prompt_tokens = tokens_of(prompt);
  request.complete = complete;
  request.latest_version = at;
  if (complete) kept = std::min(kept, request.prompt_tokens - 1);
  std::int64_t& held = request.sequence.swapped > 0 ? request.sequence.swapped : request.sequence.computed;
  if (held <= kept) return;
  request.invalidated += held - kept;
  invalidated_tokens += held - kept;
  if (request.sequence.swapped > 0) swap->drop(kv.blocks_for(held) - kv.blocks_for(kept));
  else kv.shrink(request.sequence.lease, kv.blocks_for(kept));
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
  if (request.sequence.state == Sequence::State::decoding) {
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
  kv.publish(request.sequence.lease, content(request),
             std::min(request.sequence.computed, request.sequence.lease.blocks() * kv.block_tokens()));
  kv.release(request.sequence.lease);
}

Request* EngineState::preempt_last(Seconds now, bool decoding_only) {
  Request* victim = nullptr;
  for (Request* r = last_; r; r = r->sequence.previous) {
    if (r->sequence.state == Sequence::State::finishing) continue;
    if (decoding_only && r->sequence.state != Sequence::State::decoding) continue;
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
  victim.sequence.computed = 0;
  victim.sequence.sought_below = false;
  victim.sequence.state = Sequence::State::waiting;
  victim.wait(std::max(now, victim.latest_token));  // what is planned of it still runs
  ++victim.preemptions;
  ++preemptions;
  waiting.push(victim);
}

void EngineState::swap_out(Request& victim, Seconds now) {
  stop(victim);
  // One token is left to compute: the next answer comes of it.
  victim.sequence.swapped =
      victim.complete ? std::min(victim.sequence.computed, victim.tokens_to_compute() - 1) : victim.sequence.computed;
  victim.sequence.kv_ready = swap->write(blocks_swapped(victim), now);
  ++swaps;
  put_back(victim, now);
}

bool EngineState::cancel(Request& request) {
  if (request.sequence.state == Sequence::State::finishing) return false;
  if (request.sequence.state == Sequence::State::waiting) {
    waiting.erase(request);
    if (request.sequence.swapped > 0) swap->drop(blocks_swapped(request));
  } else {
    stop(request);
    free_blocks(request);
    unlink(request);
  }
  request.sequence.state = Sequence::State::finishing;
  return true;
}

void EngineState::retire(Request& request) {
  ++touched;
  free_blocks(request);
  unlink(request);
}

Lease EngineState::lend(Request& request) {
  ++touched;
  kv.publish(request.sequence.lease, content(request), request.sequence.computed);
  unlink(request);
  return std::exchange(request.sequence.lease, {});
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
  const std::int64_t computed = request.sequence.computed;
  request.sequence = Sequence{};
  request.sequence.computed = computed;
  request.sequence.lease = std::exchange(import.lease, {});
  if (request.emitted == 0) --request.sequence.computed;  // the last prompt token is computed here, for the first one
  kv.publish(request.sequence.lease, request.prompt, request.sequence.computed);
  request.sequence.adapter = import.adapter;
  link(request);
  adapters.leave(import.adapter);  // the request itself uses it now
  if (request.emitted == 0) {
    request.sequence.state = Sequence::State::prefilling;
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
  for (const Request* r = last_; r; r = r->sequence.previous)
    if (r->sequence.state == Sequence::State::decoding) tokens += decoding.accepted(*r);
  return tokens;
}

void EngineState::lose_all(std::vector<Request*>& lost) {
  while (!waiting.empty()) {
    waiting.front().sequence.swapped = 0;
    lost.push_back(&waiting.front());
    waiting.erase(waiting.front());
  }
  if (swap) swap->forget();
  while (last_) {
    Request& request = *last_;
    if (request.sequence.state != Sequence::State::finishing) stop(request);
    kv.release(request.sequence.lease);
    unlink(request);
    lost.push_back(&request);
  }
  kv.forget();
  adapters.forget();
}

}  // namespace llmscape::serving
