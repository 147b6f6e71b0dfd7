// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/serving/replica/decode_set.hpp"
#include "sim/serving/replica/kv_memory.hpp"
#include "sim/serving/replica/running_set.hpp"
#include "sim/serving/replica/step_plan.hpp"
#include "sim/serving/replica/token_gaps.hpp"
#include "sim/serving/replica/waiting_queue.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::serving {

struct EngineConfig {
  KvMemoryConfig kv{};
  std::vector<std::int64_t> kv_laws{};  // models::kv_laws
  Speculation speculation{};
  std::int64_t resident_adapters = 0;
  bool answers_first_token = true;  // of sequences that decode elsewhere; false: the other replica computes it
  // What a step of tokens [cached, cached + tokens) of a prompt alone takes the device (of one stage).
  std::function<Seconds(std::int64_t cached, std::int64_t tokens)> chunk_time{};
};

// What an engine has done so far.
struct EngineCounts {
  std::int64_t preemptions = 0;
  std::int64_t swaps = 0;               // of them, those swapped out
  std::int64_t prefilled_tokens = 0;    // INV-5: computed in chunks
  std::int64_t reused_tokens = 0;       // found in the prefix cache
  std::int64_t fetched_tokens = 0;      // of them, from a tier below HBM, for the request that reuses them
  std::int64_t invalidated_tokens = 0;  // INV-5: computed or reused, and not in the prompt's next version
  std::int64_t answers = 0;             // tokens answered, accepted drafts aside
  std::int64_t touched = 0;             // requests handled one by one: the work of a step beyond a constant
};

// Everything that a batcher may look at and act on: the sequences of one engine that wait, are prefilled and decode,
// and their KV memory. The actions keep the books; a batcher only decides.
class EngineState {
 public:
  explicit EngineState(EngineConfig config);

  WaitingQueue waiting;
  // Admitted requests whose prompt is not complete, in order of admission.
  std::vector<Request*> prefilling;
  DecodeSet decoding;
  RunningSet running;
  KvMemory kv;
  TokenGaps gaps;
  EngineCounts counts;

  // A request waits and one more may run, of at most `max_sequences`, with the adapter of the first in the queue.
  [[nodiscard]] bool may_admit(std::int64_t max_sequences) const {
    return !waiting.empty() && running.fits(max_sequences, waiting.front().sequence.adapter) &&
           kv.window_pools_fit(waiting.front());
  }
  // Nobody waits and no prompt is under way: until a message comes, steps are of decodes.
  [[nodiscard]] bool only_decodes() const { return waiting.empty() && prefilling.empty(); }
  // The pool has the blocks of the next decode step.
  [[nodiscard]] bool decodes_fit() const {
    return decoding.size() == 0 || kv.pool.available() >= kv.blocks_for_decodes(decoding);
  }
  // What a step of this chunk alone takes the device (of one stage): for batchers that cut prompts by time.
  [[nodiscard]] Seconds chunk_time(std::int64_t cached, std::int64_t tokens) const {
    return chunk_time_(cached, tokens);
  }

  // A request that waits becomes a running one that starts behind its cached prefix of `hit_blocks` blocks. Returns it.
  Request& admit(Request& request, std::int64_t hit_blocks, Seconds now);
  // A request that was swapped out becomes a running one whose entries are here at its `kv_ready`. The caller has
  // checked that the blocks of its swapped entries fit.
  void swap_in(Request& request, Seconds now);
  // Computes the next `tokens` tokens of the prompt in this step. The caller has checked that the blocks fit.
  void schedule_chunk(Request& request, std::int64_t tokens, StepPlan& plan);
  // Part of the work on the next `tokens` tokens of the prompt, not the last, is done in this step: a group of layers,
  // say. Their blocks are reserved; the books move when schedule_chunk() is called for the last part.
  void schedule_part(Request& request, std::int64_t tokens, StepPlan& plan);
  // Every decoding sequence computes its next tokens in this step. The caller has checked decodes_fit().
  void schedule_decodes(StepPlan& plan);

  // Takes a running request off the engine: of the worst priority, the one admitted last; `decoding_only`: prompts
  // under way stay. Its blocks are freed and it waits again, keeping what it has answered. Returns it; nullptr if
  // nothing can be preempted.
  Request* preempt_last(Seconds now, bool decoding_only = false, Preempted entries = Preempted::recompute);
  // The same of a running request that is not finishing.
  void preempt(Request& victim, Seconds now, Preempted entries = Preempted::recompute);

  // A later version of the prompt of a request that waits or is being computed: what was computed stays as far as both
  // begin alike, and the blocks behind are freed. Of a prompt that is complete at least one token is left to compute.
  void revise(Request& request, const Prompt& prompt, bool complete, Seconds at);
  // Takes a request that waits or runs off the engine for good. False if its last step is already planned.
  bool cancel(Request& request);
  // Frees the slot and the blocks of a request whose last step has ended.
  void retire(Request& request);
  // The engine is lost: every request that waits or runs leaves it, with its books up to date, and is appended to
  // `lost`; nothing is cached any more. What KvExchange holds is given back before.
  void lose_all(std::vector<Request*>& lost);

  // Tokens answered so far by all requests, O(running).
  [[nodiscard]] std::int64_t emitted_tokens() const;

 private:
  void start(Request& request, Seconds now);
  void stop(Request& request);

  bool answers_first_token_;
  std::function<Seconds(std::int64_t cached, std::int64_t tokens)> chunk_time_;
};

}  // namespace llmscape::serving
