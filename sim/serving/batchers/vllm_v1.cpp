// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batchers/vllm_v1.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmscape::serving {

namespace {

class VllmV1Batcher : public Batcher {
 public:
  explicit VllmV1Batcher(VllmV1 policy) : policy_(std::move(policy)) {}

  void plan(EngineState& state, Seconds now, StepPlan& plan) override {
    std::int64_t budget = policy_.max_num_batched_tokens;
    const std::int64_t preempted_before = state.counts.preemptions;
    plan_decodes(state, now, budget, plan);
    const bool all_continue = continue_prompts(state, now, budget, plan);
    const bool preempted = state.counts.preemptions > preempted_before;
    if (!preempted && all_continue) admit(state, now, budget, plan);
    plan.steady = !preempted && (plan.chunks.empty() ? state.prefilling.empty() : state.only_decodes());
  }

 private:
  // Step 1 of the scheduler for sequences that decode. The pool is short of blocks: the last admitted are preempted.
  static void plan_decodes(EngineState& state, Seconds now, std::int64_t& budget, StepPlan& plan) {
    while (!state.decodes_fit())
      if (!state.preempt_last(now)) return;
    state.schedule_decodes(plan);
    budget -= plan.decode_tokens();
  }

  [[nodiscard]] std::int64_t limit(std::int64_t tokens, std::int64_t budget) const {
    if (policy_.long_prefill_token_threshold > 0) tokens = std::min(tokens, policy_.long_prefill_token_threshold);
    return std::min(tokens, budget);
  }

  // Step 1 for prompts that are under way. False when one of them had to give way itself.
  bool continue_prompts(EngineState& state, Seconds now, std::int64_t& budget, StepPlan& plan) const {
    for (std::size_t i = 0; i < state.prefilling.size() && budget > 0;) {
      Request& request = *state.prefilling[i];
      if (request.idle()) {
        ++i;
        continue;
      }
      const std::int64_t tokens = limit(request.tokens_to_compute() - request.sequence.computed, budget);
      while (state.kv.pool.available() < state.kv.blocks_for_chunk(request, tokens)) {
        const Request* victim = state.preempt_last(now);
        if (!victim || victim == &request) return false;
      }
      const std::size_t before = state.prefilling.size();
      state.schedule_chunk(request, tokens, plan);
      budget -= tokens;
      if (state.prefilling.size() == before) ++i;
    }
    return true;
  }

  // Step 2: the waiting queue, strictly in order; the first that does not fit stops it.
  void admit(EngineState& state, Seconds now, std::int64_t& budget, StepPlan& plan) const {
    while (budget > 0 && state.may_admit(policy_.max_num_seqs)) {
      Request& next = state.waiting.front();
      const std::int64_t total = next.tokens_to_compute();
      const PrefixTree::Match hit = state.kv.match(next);
      const std::int64_t uncached = total - hit.blocks * state.kv.pool.block_tokens();
      if (!policy_.chunked_prefill && uncached > budget) return;
      const std::int64_t tokens = limit(uncached, budget);
      const std::int64_t must_fit = policy_.reserve_full_prompt ? uncached : tokens;
      const std::int64_t blocks =
          state.kv.blocks_of_prompt(total - uncached + must_fit) - hit.blocks + state.kv.window_blocks(next, hit);
      const bool alone = plan.empty() && state.running.size() == 0;
      const auto spare =
          alone ? 0
                : static_cast<std::int64_t>(std::ceil(policy_.watermark * static_cast<double>(state.kv.pool.blocks())));
      if (state.kv.pool.available() - hit.unreferenced_blocks < blocks + spare) return;
      Request& request = state.admit(next, hit.blocks, now);
      state.schedule_chunk(request, tokens, plan);
      budget -= tokens;
    }
  }

  VllmV1 policy_;
};

}  // namespace

std::unique_ptr<Batcher> VllmV1::make() const { return std::make_unique<VllmV1Batcher>(*this); }

const Fields<VllmV1>& vllm_v1_fields() {
  static const Fields<VllmV1> fields = [] {
    Fields<VllmV1> f("vllm_v1", "continuous batching with chunked prefill, as vLLM 1 schedules it");
    add_token_budget(f);
    f.add("long_prefill_token_threshold", &VllmV1::long_prefill_token_threshold,
          "most tokens of one prompt in a step; 0: no limit but the budget")
        .at_least(0);
    f.add("chunked_prefill", &VllmV1::chunked_prefill, "prompts may be cut over several steps");
    f.add("reserve_full_prompt", &VllmV1::reserve_full_prompt,
          "a prompt is admitted only when KV blocks for the whole of it are free (scheduler_reserve_full_isl)");
    f.add("watermark", &VllmV1::watermark, "share of the KV blocks kept free when admitting beside others")
        .between(0, 0.5);
    f.add("async_scheduling", &VllmV1::async_scheduling, "plans the next step while the present one runs");
    f.add("enable_prefix_caching", &VllmV1::enable_prefix_caching, "keeps KV blocks for prompts with the same prefix");
    check_token_budget(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
