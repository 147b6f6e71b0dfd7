// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/kv_memory.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace llmscape::serving {

namespace {

constexpr std::int64_t kStep = 256;  // tokens of the first piece of the profile; each further one is twice as long

// The one store that has the policy.
template <class Policy>
Policy* only(const std::vector<std::shared_ptr<KvStore>>& stores) {
  Policy* found = nullptr;
  for (const auto& store : stores)
    if (auto* policy = dynamic_cast<Policy*>(store.get())) {
      if (found) throw std::logic_error("two stores of KV entries do the same");
      found = policy;
    }
  return found;
}

// Of the states of one sequence: a block each, whatever its length.
std::int64_t state_blocks(const std::vector<WindowLayers>& windows) {
  double blocks = 0;
  for (const WindowLayers& layers : windows) blocks += layers.weight * static_cast<double>(layers.most);
  return static_cast<std::int64_t>(std::ceil(blocks));
}

// Blocks of layers with a window that one of the others brings along while it is cached and nobody holds it: engines
// free what has left a window with its hash, so that it is evicted in its turn and not before.
double cached_beside(const std::vector<WindowLayers>& windows) {
  double beside = 0;
  for (const WindowLayers& layers : windows) beside += layers.weight;
  return beside;
}

}  // namespace

KvMemory::KvMemory(KvMemoryConfig config)
    : pool(config.blocks, config.block_tokens, config.prefix_caching && config.sharing != models::Sharing::none,
           config.sharing == models::Sharing::exact_end ? state_blocks(config.windows) : 0,
           config.sharing == models::Sharing::any_block ? cached_beside(config.windows) : 0),
      offload(*this, config.below, config.max_sequences), config_(std::move(config)),
      windows_(config_.windows, config_.window_pools, config_.block_tokens, config_.grows,
               config_.prefix_caching && config_.sharing == models::Sharing::any_block),
      spill_(only<KvSpill>(stores())), preemption_(only<KvPreemption>(stores())) {
  if (offload.active()) pool.set_listener(&offload);
}

Seconds KvMemory::recompute_time(std::int64_t tokens) {
  if (profile_.empty()) profile_.emplace_back();
  std::int64_t low = 0, high = kStep;
  std::size_t piece = 0;
  for (; high < tokens; ++piece) {
    low = high;
    high *= 2;
  }
  for (std::int64_t length = kStep << (profile_.size() - 1); profile_.size() < piece + 2; length *= 2)
    profile_.push_back(prefill_time(0, length));
  const double share = static_cast<double>(tokens - low) / static_cast<double>(high - low);
  return profile_[piece] + share * (profile_[piece + 1] - profile_[piece]);
}

const Prompt& KvMemory::content(const Request& request) const {
  if (request.emitted == 0) return request.prompt;
  scratch_ = request.prompt;
  scratch_.push_back({request.output, request.emitted, 0});
  return scratch_;
}

// Without a budget for each chunk a preempted sequence computes its prompt and its answer so far as one prompt.
std::int64_t KvMemory::most_entries(std::int64_t prompt, std::int64_t output) const {
  const std::int64_t length = prompt + output;
  if (!config_.budget.each_chunk()) return length;
  const std::int64_t kept = config_.budget.kept(length), ring = config_.budget.ring();
  const std::int64_t answered = config_.budget.kept(prompt) + output;
  return std::min(length, std::max(kept + config_.largest_chunk, ring > 0 ? std::min(ring, answered) : answered));
}

std::int64_t KvMemory::blocks_for_chunk(const Request& request, std::int64_t tokens) const {
  return std::max<std::int64_t>(0,
                                pool.blocks_for(entries_of_prompt(request) + tokens) - request.sequence.lease.blocks());
}

KvMemory::Reuse KvMemory::begin(Request& request, std::int64_t hit_blocks) {
  Sequence& sequence = request.sequence;
  pool.share(sequence.lease, content(request), hit_blocks);  // first: what windows take is of what nobody holds
  pool.take_for_decodes(windows_.take(request, hit_blocks, sequence.lease.tip));
  sequence.computed = hit_blocks * pool.block_tokens();
  const std::int64_t fetched = std::min(sequence.computed, sequence.fetched_to) - sequence.fetched_from;
  sequence.fetched_from = sequence.fetched_to = 0;
  return {sequence.computed, std::max<std::int64_t>(0, fetched)};
}

void KvMemory::reserve(Request& request, std::int64_t tokens) {
  const std::int64_t more = pool.blocks_for(tokens) - request.sequence.lease.blocks();
  if (more > 0) pool.take(request.sequence.lease, more);
}

void KvMemory::extend(Request& request, std::int64_t tokens) {
  Sequence& sequence = request.sequence;
  if (config_.budget.each_chunk()) cut(request, sequence.computed);
  if (const std::int64_t blocks = blocks_for_chunk(request, tokens); blocks > 0) pool.take(sequence.lease, blocks);
  sequence.computed += tokens;
  pool.publish(sequence.lease, content(request), sequence.computed);
}

void KvMemory::end_prompt(Request& request) {
  if (!config_.budget.limits()) return;
  cut(request, config_.budget.each_chunk() ? request.sequence.computed : request.prompt_tokens);
}

void KvMemory::cut(Request& request, std::int64_t computed) {
  Sequence& sequence = request.sequence;
  sequence.dropped = computed - config_.budget.kept(computed);
  pool.shrink(sequence.lease, pool.blocks_for(in_ring(sequence.entries())));
}

std::int64_t KvMemory::in_ring(std::int64_t entries) const {
  return config_.budget.ring() > 0 ? std::min(config_.budget.ring(), entries) : entries;
}

std::int64_t KvMemory::entries_to_swap(const Request& request, std::int64_t computed) const {
  const std::int64_t entries = computed - request.sequence.dropped;
  return request.sequence.state == Sequence::State::decoding ? in_ring(entries) : entries;
}

std::int64_t KvMemory::entries_of_prompt(const Request& request) const {
  const Sequence& sequence = request.sequence;
  return config_.budget.each_chunk() ? config_.budget.kept(sequence.computed) : sequence.entries();
}

void KvMemory::grow(const DecodeSet& decoding) {
  const std::int64_t blocks = blocks_for_decodes(decoding);
  if (blocks > 0) pool.take_for_decodes(blocks);
  else if (blocks < 0) pool.give_back(-blocks);
}

void KvMemory::settle(Request& request) {
  Sequence& sequence = request.sequence;
  if (config_.grows) KvCache::hold(sequence.lease, pool.blocks_for(sequence.allocated) - sequence.lease.blocks());
}

std::int64_t KvMemory::truncate(Request& request, std::int64_t tokens) {
  Sequence& sequence = request.sequence;
  std::int64_t& held = sequence.swapped > 0 ? sequence.swapped : sequence.computed;
  if (held <= tokens) return 0;
  if (sequence.dropped > 0) tokens = 0;  // what stayed was chosen with the tokens behind them
  const std::int64_t had = pool.blocks_for(held - std::exchange(sequence.dropped, 0));
  if (sequence.swapped > 0) preemption_->drop(had - pool.blocks_for(tokens));
  else pool.shrink(sequence.lease, pool.blocks_for(tokens));
  return std::exchange(held, tokens) - tokens;
}

bool KvMemory::may_swap_out(const Request& request, bool if_faster, Seconds now) {
  const Sequence& sequence = request.sequence;
  if (!preemption_ || sequence.computed == 0) return false;
  const std::int64_t blocks = pool.blocks_for(entries_to_swap(request, sequence.computed));
  if (!preemption_->fits(blocks)) return false;
  return !if_faster || preemption_->pays(recompute_time(sequence.computed), blocks, now);
}

void KvMemory::swap_out(Request& request, Seconds now) {
  Sequence& sequence = request.sequence;
  sequence.swapped =
      request.complete ? std::min(sequence.computed, request.tokens_to_compute() - 1) : sequence.computed;
  sequence.dropped = sequence.swapped - entries_to_swap(request, sequence.swapped);
  sequence.kv_ready = preemption_->write(blocks_swapped(request), now);
}

void KvMemory::swap_in(Request& request, Seconds now) {
  Sequence& sequence = request.sequence;
  pool.take_for_decodes(windows_.take(request, 0, nullptr));
  const std::int64_t blocks = blocks_swapped(request);
  pool.take(sequence.lease, blocks);
  sequence.kv_ready = preemption_->read(blocks, now);
  sequence.computed = std::exchange(sequence.swapped, 0);
}

// Where a sequence answered more than the mean of its passes, what it holds may end before what it has computed.
void KvMemory::publish(Request& request) {
  Lease& lease = request.sequence.lease;
  pool.publish(lease, content(request), std::min(request.sequence.computed, lease.blocks() * pool.block_tokens()));
}

void KvMemory::release(Request& request) {
  pool.give_back(windows_.give_back(request.sequence));
  pool.release(request.sequence.lease);
}

Lease KvMemory::lend(Request& request) {
  pool.give_back(windows_.give_back(request.sequence));
  return std::exchange(request.sequence.lease, {});
}

bool KvMemory::reserve(KvImport& import) {
  const Request& request = *import.request;
  const PrefixTree::Match hit = pool.match(request.prompt, request.prompt_tokens);
  const std::int64_t tokens = request.prompt_tokens + (config_.grows ? 0 : request.output_tokens);
  const std::int64_t blocks = pool.blocks_for(tokens) - hit.blocks;
  if (pool.available() - hit.unreferenced_blocks < blocks) return false;
  pool.share(import.lease, request.prompt, hit.blocks);
  pool.take(import.lease, blocks);
  import.hit_blocks = hit.blocks;
  return true;
}

void KvMemory::adopt(Request& request, KvImport& import) {
  request.sequence.lease = std::exchange(import.lease, {});
  pool.publish(request.sequence.lease, request.prompt, request.sequence.computed);
  pool.take_for_decodes(windows_.take(request, 0, nullptr));
}

void KvMemory::forget() {
  pool.forget();
  for (const auto& store : stores()) store->lose();
}

}  // namespace llmscape::serving
