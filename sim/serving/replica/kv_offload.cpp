// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/kv_offload.hpp"

#include <algorithm>

#include "sim/serving/replica/engine_state.hpp"

namespace llmscape::serving {

KvOffload::KvOffload(const KvMemory& memory, const KvBelow& below, std::int64_t max_sequences)
    : memory_(memory), write_(below.write), fetch_(below.fetch), prefetch_(below.prefetch),
      max_sequences_(max_sequences) {
  for (const auto& store : below.stores)
    if (auto* prefixes = dynamic_cast<KvPrefixes*>(store.get())) {
      stores_.push_back(prefixes);
      const auto own = below.links.find(store.get());
      links_.emplace_back(own != below.links.end() ? own->second : KvPrefixes::kAnyLinks, Seconds());
    }
}

void KvOffload::on_published(const Prompt& content, std::int64_t blocks) {
  if (write_ == KvWrite::write_through) stores_.front()->store(content, blocks, now_);
}

void KvOffload::on_evicted(const Prompt& path) {
  if (write_ == KvWrite::on_eviction) stores_.front()->store(path, tokens_of(path) / memory_.pool.block_tokens(), now_);
}

void KvOffload::begin_fetches(EngineState& state, Seconds now) {
  if (!fetches()) return;
  std::int64_t free = state.kv.pool.available();
  std::int64_t slots = max_sequences_ - state.running.size() - fetching();
  std::vector<Request*> next;
  state.waiting.visit([&](Request& request) {
    const std::int64_t tokens = request.tokens_to_compute();
    const PrefixTree::Match hit = request.sequence.sought_below ? PrefixTree::Match{} : state.kv.match(request);
    free -= state.kv.pool.blocks_for(tokens) - hit.blocks + hit.unreferenced_blocks + state.kv.window_blocks(request);
    if (free < 0 || (slots-- <= 0 && !prefetch_)) return false;
    if (!request.sequence.sought_below) next.push_back(&request);
    return true;
  });
  for (Request* request : next) begin(state, *request, now);
}

// Where the prompt is whole soonest, or most of it is held.
KvOffload::Source KvOffload::best_source(const Prompt& content, std::int64_t tokens, std::int64_t hit_blocks,
                                         Seconds now) {
  const std::int64_t block = memory_.pool.block_tokens();
  const std::int64_t limit = (tokens - 1) / block;
  Source best{nullptr, nullptr, hit_blocks, {}, {}};
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    KvPrefixes* tier = stores_[i];
    const std::int64_t held = tier->match(content, limit, now);
    if (held <= hit_blocks) continue;
    if (best.computed == Seconds()) best.computed = best.whole = memory_.prefill_time(hit_blocks * block, tokens);
    const Seconds whole =
        tier->read_time(held - hit_blocks, now, links_[i]) + memory_.prefill_time(held * block, tokens);
    if (fetch_ == KvFetch::always ? held > best.blocks : whole < best.whole)
      best = {tier, &links_[i], held, best.computed, whole};
  }
  return best;
}

std::int64_t KvOffload::spared_tokens(const Prompt& content, std::int64_t tokens, std::int64_t hit_blocks,
                                      Seconds now) {
  if (!fetches()) return 0;
  const Source source = best_source(content, tokens, hit_blocks, now);
  if (!source.store || source.whole >= source.computed) return 0;
  const std::int64_t uncached = tokens - hit_blocks * memory_.pool.block_tokens();
  return static_cast<std::int64_t>((1 - source.whole / source.computed) * static_cast<double>(uncached));
}

void KvOffload::begin(EngineState& state, Request& request, Seconds now) {
  request.sequence.sought_below = true;
  const std::int64_t tokens = request.tokens_to_compute();
  const PrefixTree::Match hit = state.kv.match(request);
  for (KvPrefixes* tier : stores_)
    tier->count_asked(((tokens - 1) / state.kv.pool.block_tokens() - hit.blocks) * state.kv.pool.block_tokens());
  const Source source = best_source(state.kv.content(request), tokens, hit.blocks, now);
  // With the recurrent states, for which there must be a place when they come.
  const std::int64_t blocks = source.blocks - hit.blocks + state.kv.window_blocks(request);
  if (!source.store || state.kv.pool.available() - hit.unreferenced_blocks < blocks) return;
  Fetch fetch{&request, source.store, {}, source.blocks, {}};
  fetch.read = source.store->read(state.kv.content(request), hit.blocks, source.blocks, now, *source.links);
  state.waiting.erase(request);
  if (!request.answered()) request.clock.enter(RequestPhase::fetching, now);
  state.kv.pool.share(fetch.lease, state.kv.content(request), hit.blocks);
  state.kv.pool.take(fetch.lease, blocks);
  request.sequence.fetched_from = hit.blocks * state.kv.pool.block_tokens();
  request.sequence.fetched_to = source.blocks * state.kv.pool.block_tokens();
  fetches_.push_back(fetch);
}

Seconds KvOffload::next_arrival() const {
  Seconds next = kNever;
  for (const Fetch& fetch : fetches_) next = std::min(next, fetch.read.arrival);
  return next;
}

bool KvOffload::end_fetches(EngineState& state, Seconds now) {
  return std::erase_if(fetches_, [&](Fetch& fetch) {
           if (fetch.read.arrival > now) return false;
           Request& request = *fetch.request;
           fetch.store->release(fetch.read.tip);
           state.kv.pool.shrink(fetch.lease, state.kv.pool.blocks_for(request.sequence.fetched_to));
           state.kv.pool.publish(fetch.lease, state.kv.content(request), request.sequence.fetched_to);
           state.kv.pool.release(fetch.lease);
           state.waiting.push(request);
           request.wait(now);
           return true;
         }) > 0;
}

bool KvOffload::cancel(EngineState& state, Request& request) {
  return std::erase_if(fetches_, [&](Fetch& fetch) {
           if (fetch.request != &request) return false;
           fetch.store->release(fetch.read.tip);
           state.kv.pool.release(fetch.lease);
           return true;
         }) > 0;
}

void KvOffload::lose(EngineState& state, std::vector<Request*>& lost) {
  for (Fetch& fetch : fetches_) {
    fetch.store->release(fetch.read.tip);
    state.kv.pool.release(fetch.lease);
    lost.push_back(fetch.request);
  }
  fetches_.clear();
}

}  // namespace llmscape::serving
