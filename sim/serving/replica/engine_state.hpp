// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "sim/serving/kv/kv_cache.hpp"
#include "sim/serving/kv/kv_host.hpp"
#include "sim/serving/kv/kv_swap.hpp"
#include "sim/serving/replica/adapters.hpp"
#include "sim/serving/replica/decode_set.hpp"
#include "sim/serving/replica/kv_import.hpp"
#include "sim/serving/replica/step_plan.hpp"
#include "sim/serving/replica/token_gaps.hpp"
#include "sim/serving/replica/waiting_queue.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::serving {

// KV blocks of layers with a sliding window beside layers without (scenario::KvWindows): a sequence holds at most
// `most` blocks of them, each as large as `weight` blocks of the pool.
struct WindowLayers {
  std::int64_t most = 0;
  double weight = 0;
};

// Everything that a batcher may look at and act on: queues, running requests and KV blocks of one replica. The actions
// keep the books; a batcher only decides.
class EngineState {
 public:
  // `kv_grows`: decoding sequences take blocks as they grow. False where each request reserves its whole length when it
  // is admitted (reserve()). `kept_prompt`: entries of a prompt that stay when it is computed (SnapKV), the others'
  // blocks are free from then on; 0: all. Needs a cache without prefixes and sequences that grow.
  EngineState(std::int64_t kv_blocks, int block_tokens, bool prefix_caching, bool kv_grows,
              const std::vector<std::int64_t>& kv_laws, const Speculation& speculation = {},
              std::int64_t resident_adapters = 0, std::int64_t kept_prompt = 0);

  WaitingQueue waiting;
  KvCache kv;
  DecodeSet decoding;
  // Admitted requests whose prompt is not complete, in order of admission.
  std::vector<Request*> prefilling;
  TokenGaps gaps;
  AdapterSlots adapters;

  // Requests that hold a slot: prefilling, decoding, finished ones whose last step has not ended, and those whose KV
  // entries are on their way here.
  [[nodiscard]] std::int64_t running() const { return running_ + importing_; }

  // A request waits and one more may run, of at most `max_sequences`, with the adapter of the first in the queue.
  [[nodiscard]] bool may_admit(std::int64_t max_sequences) const {
    return !waiting.empty() && running() < std::min(max_sequences, most_sequences) &&
           adapters.fits(waiting.front().sequence.adapter);
  }
  // The front of the waiting queue becomes a running request that starts behind its cached prefix of `hit` blocks.
  Request& admit(std::int64_t hit_blocks, Seconds now) { return admit(waiting.front(), hit_blocks, now); }
  // The same of any request that waits, for batchers with an order of their own.
  Request& admit(Request& request, std::int64_t hit_blocks, Seconds now);
  // A request that was swapped out becomes a running one whose entries are here at its `kv_ready`. The caller has
  // checked that blocks_swapped() fit.
  void swap_in(Request& request, Seconds now);
  [[nodiscard]] std::int64_t blocks_swapped(const Request& request) const {
    return kv.blocks_for(request.sequence.swapped);
  }
  // Computes the next `tokens` tokens of the prompt in this step. The caller has checked that the blocks fit.
  void schedule_chunk(Request& request, std::int64_t tokens, StepPlan& plan);
  // A group of layers, not the last, computes the next `tokens` tokens of the prompt in this step. Their blocks are
  // reserved; the books move when schedule_chunk() is called for the last group.
  void schedule_layers(Request& request, std::int64_t tokens, StepPlan& plan);
  // KV blocks that the next `tokens` tokens of the request need beyond those it holds.
  [[nodiscard]] std::int64_t blocks_for_chunk(const Request& request, std::int64_t tokens) const;
  // KV blocks that the request holds for layers with a window while it runs, beside those of its tokens: none where all
  // layers are alike. Whoever admits it checks that they fit too.
  [[nodiscard]] std::int64_t window_blocks(const Request& request) const;
  // KV blocks that the decode step `ahead` steps from now takes.
  [[nodiscard]] std::int64_t blocks_for_decodes(std::int64_t ahead = 0) const {
    return kv_grows_ ? decoding.blocks_needed(ahead) : 0;
  }
  // Every decoding sequence computes its next tokens in this step. The caller has checked that blocks_for_decodes()
  // fit.
  void schedule_decodes(StepPlan& plan);
  // Tokens that the decodes of a plan compute, padding aside.
  [[nodiscard]] std::int64_t decode_tokens(const StepPlan& plan) const {
    return plan.decodes + (plan.decodes - plan.late) * (decoding.tokens_per_decode() - 1);
  }
  // A later version of the prompt of a request that waits or is being computed: what was computed stays as far as both
  // begin alike, and the blocks behind are freed. Of a prompt that is complete at least one token is left to compute.
  void revise(Request& request, const Prompt& prompt, bool complete, Seconds at);
  // Keeps blocks for `tokens` tokens of the request, whatever it needs at present.
  void reserve(Request& request, std::int64_t tokens);

  // Takes a running request off the engine: of the worst priority, the one admitted last; `decoding_only`: prompts
  // under way stay. Its blocks are freed and it waits again, keeping what it has answered. Returns it; nullptr if
  // nothing can be preempted.
  Request* preempt_last(Seconds now, bool decoding_only = false);
  // The same of a running request that is not finishing; what it has computed is lost, but for what is cached.
  void preempt(Request& victim, Seconds now);
  // Keeps what it has computed in the host's memory. Needs `swap`, with room for it.
  void swap_out(Request& victim, Seconds now);
  // Takes a request that waits or runs off the engine for good. False if its last step is already planned.
  bool cancel(Request& request);
  // Frees the slot and the blocks of a request whose last step has ended.
  void retire(Request& request);
  // Frees the slot only: the blocks are read by another replica until release().
  [[nodiscard]] Lease lend(Request& request);
  void release(Lease& lease) { kv.release(lease); }

  // Takes a slot and blocks for a prompt that is computed elsewhere. False if they do not fit now.
  bool reserve(KvImport& import, std::int64_t max_sequences);
  // The entries are here and the first token is answered: the request decodes from the next step on.
  void join(KvImport& import);
  void drop(KvImport& import);
  // The engine is lost: every request that waits or runs leaves it, with its books up to date, and is appended to
  // `lost`; nothing is cached any more. Imports and lent blocks are given back before.
  void lose_all(std::vector<Request*>& lost);

  // Tokens answered so far, also while it decodes.
  [[nodiscard]] std::int64_t emitted(const Request& request) const {
    return request.emitted + (request.sequence.state == Sequence::State::decoding ? decoding.answered(request) : 0);
  }
  // Tokens answered so far by all requests, O(running).
  [[nodiscard]] std::int64_t emitted_tokens() const;
  // The request's content so far, answer included.
  [[nodiscard]] const Prompt& content(const Request& request) const;

  // What a step of this chunk alone takes the device (of one stage): for batchers that cut prompts by time.
  std::function<Seconds(std::int64_t cached, std::int64_t tokens)> chunk_time;
  std::vector<WindowLayers> windows;  // one entry for each window, where layers without one stand beside them
  // For which the pools of layers with a window have room, where those have their own.
  std::int64_t most_sequences = std::numeric_limits<std::int64_t>::max();
  bool hand_over_answers = true;  // prompts that are handed over answer their first token here
  Seconds bubbles;                // of all steps so far: what the stages of the pipeline idled before them
  KvSwap* swap = nullptr;         // where preempted requests may go; null: what they have computed is lost
  std::int64_t preemptions = 0;
  std::int64_t swaps = 0;             // of them, those swapped out
  std::int64_t prefilled_tokens = 0;  // INV-5: computed in chunks
  std::int64_t reused_tokens = 0;
  std::int64_t fetched_tokens =
      0;  // of the reused ones: fetched from a tier below HBM for the request that reuses them
  std::int64_t invalidated_tokens = 0;  // INV-5: computed or reused, and not in the prompt's next version
  std::int64_t touched = 0;             // requests handled one by one: the work of a step beyond a constant

 private:
  void start(Request& request, Seconds now);
  void link(Request& request);
  void unlink(Request& request);
  void stop(Request& request);
  void free_blocks(Request& request);
  void settle_blocks(Request& request);
  void cut_prompt(Request& request);
  void put_back(Request& victim, Seconds now);

  bool kv_grows_;
  std::int64_t kept_prompt_;
  std::int64_t running_ = 0;
  std::int64_t importing_ = 0;
  std::int64_t answers_ = 0;  // tokens answered, accepted drafts aside
  Request* last_ = nullptr;   // admitted last
  mutable Prompt scratch_;
};

}  // namespace llmscape::serving
