// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batchers/orca.hpp"

namespace llmscape::serving {

namespace {

class OrcaBatcher : public Batcher {
 public:
  explicit OrcaBatcher(Orca policy) : policy_(std::move(policy)) {}

  void plan(EngineState& state, Seconds now, StepPlan& plan) override {
    state.schedule_decodes(plan);
    std::int64_t budget = policy_.max_prompt_tokens;
    while (state.may_admit(policy_.max_batch)) {
      Request& next = state.waiting.front();
      const std::int64_t tokens = next.tokens_to_compute();  // more than its prompt if its KV entries were lost
      if (tokens > budget && !plan.chunks.empty()) break;
      const std::int64_t length = next.prompt_tokens + next.answer_here();
      if (state.kv.pool.available() < state.kv.pool.blocks_for(length) + state.kv.window_blocks(next)) break;
      Request& request = state.admit(next, 0, now);
      state.kv.reserve(request, length);
      state.schedule_chunk(request, tokens, plan);
      budget -= tokens;
    }
    plan.steady = plan.chunks.empty() || state.only_decodes();
  }

 private:
  Orca policy_;
};

}  // namespace

std::unique_ptr<Batcher> Orca::make() const { return std::make_unique<OrcaBatcher>(*this); }

const Fields<Orca>& orca_fields() {
  static const Fields<Orca> fields = [] {
    Fields<Orca> f("orca", "iteration-level scheduling with whole prompts and memory reserved at admission");
    f.add("max_batch", &Orca::max_batch, "most sequences of a step").between(1, 65536);
    f.add("max_prompt_tokens", &Orca::max_prompt_tokens,
          "most prompt tokens of a step, unless one prompt alone is longer")
        .between(1, 1 << 24);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
