// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batchers/vllm_v0.hpp"

#include <cmath>

namespace llmscape::serving {

namespace {

class VllmV0Batcher : public Batcher {
 public:
  explicit VllmV0Batcher(VllmV0 policy) : policy_(std::move(policy)) {}

  void plan(EngineState& state, Seconds now, StepPlan& plan) override {
    admit_prompts(state, now, plan);
    if (!plan.chunks.empty()) {
      plan.steady = state.only_decodes();
      return;
    }
    const std::int64_t preempted = state.counts.preemptions;
    while (!state.decodes_fit())
      if (!state.preempt_last(now)) return;
    state.schedule_decodes(plan);
    plan.steady = state.counts.preemptions == preempted;
  }

 private:
  void admit_prompts(EngineState& state, Seconds now, StepPlan& plan) const {
    std::int64_t budget = policy_.max_num_batched_tokens;
    const auto spare =
        static_cast<std::int64_t>(std::ceil(policy_.watermark * static_cast<double>(state.kv.pool.blocks())));
    while (state.may_admit(policy_.max_num_seqs)) {
      Request& next = state.waiting.front();
      const std::int64_t total = next.tokens_to_compute();
      const PrefixTree::Match hit = state.kv.match(next);
      const std::int64_t tokens = total - hit.blocks * state.kv.pool.block_tokens();
      // A prompt above the budget can only ever run alone (vLLM 0.x refuses it unless the budget is raised to it).
      if (tokens > budget && !plan.chunks.empty()) return;
      const std::int64_t blocks = state.kv.blocks_of_prompt(total) - hit.blocks + state.kv.window_blocks(next, hit);
      const std::int64_t kept = state.running.size() == 0 ? 0 : spare;
      if (state.kv.pool.available() - hit.unreferenced_blocks < blocks + kept) return;
      state.schedule_chunk(state.admit(next, hit.blocks, now), tokens, plan);
      budget -= tokens;
    }
  }

  VllmV0 policy_;
};

}  // namespace

std::unique_ptr<Batcher> VllmV0::make() const { return std::make_unique<VllmV0Batcher>(*this); }

const Fields<VllmV0>& vllm_v0_fields() {
  static const Fields<VllmV0> fields = [] {
    Fields<VllmV0> f("vllm_v0",
                     "prefill first: waiting prompts run alone and whole, as vLLM 0.2 to 0.6 schedules them");
    add_token_budget(f, "most prompt tokens of a step");
    f.add("watermark", &VllmV0::watermark, "share of the KV blocks kept free when admitting beside others")
        .between(0, 0.5);
    f.add("enable_prefix_caching", &VllmV0::enable_prefix_caching, "keeps KV blocks for prompts with the same prefix");
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
