// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batchers/trtllm.hpp"

namespace llmscape::serving {

namespace {

class TrtLlmBatcher : public Batcher {
 public:
  explicit TrtLlmBatcher(TrtLlm policy) : policy_(std::move(policy)) {}

  void plan(EngineState& state, Seconds now, StepPlan& plan) override {
    const std::int64_t preempted = state.counts.preemptions;
    while (!state.decodes_fit())
      if (!state.preempt_last(now)) return;
    state.schedule_decodes(plan);
    const std::int64_t decode_tokens = plan.decode_tokens();
    const Candidates candidates = fitting(state, decode_tokens);
    const bool wait = waits(candidates, decode_tokens);
    waited_ = wait ? waited_ + 1 : 0;
    if (!wait)
      for (std::int64_t i = 0; i < candidates.prompts && state.may_admit(policy_.max_batch_size); ++i)
        admit(state, now, plan);
    plan.steady = !wait && state.counts.preemptions == preempted && (plan.chunks.empty() || state.only_decodes());
  }

 private:
  // Prompts from the front of the queue that fit into a step beside the decodes.
  struct Candidates {
    std::int64_t prompts = 0;
    std::int64_t tokens = 0;
  };

  [[nodiscard]] std::int64_t tokens_to_hold(const Request& request) const {
    return policy_.kv_grows() ? request.tokens_to_compute() : request.prompt_tokens + request.answer_here();
  }

  [[nodiscard]] Candidates fitting(const EngineState& state, std::int64_t decode_tokens) const {
    Candidates found;
    std::int64_t blocks = state.kv.pool.available();
    state.waiting.visit([&](const Request& request) {
      const std::int64_t tokens = request.tokens_to_compute();
      // A prompt above the budget runs when nothing else does (TensorRT-LLM refuses it unless the budget is raised).
      const bool alone = decode_tokens == 0 && found.prompts == 0;
      blocks -= state.kv.pool.blocks_for(tokens_to_hold(request)) + state.kv.window_blocks(request);
      const bool fits = state.running.size() + found.prompts < policy_.max_batch_size && blocks >= 0 &&
                        (alone || decode_tokens + found.tokens + tokens <= policy_.max_num_tokens);
      if (!fits) return false;
      ++found.prompts;
      found.tokens += tokens;
      return true;
    });
    return found;
  }

  [[nodiscard]] bool waits(const Candidates& candidates, std::int64_t decode_tokens) const {
    const auto planned = static_cast<double>(decode_tokens + candidates.tokens);
    return candidates.prompts > 0 && decode_tokens > 0 && waited_ < policy_.batch_wait_steps &&
           planned < policy_.batch_wait_share * static_cast<double>(policy_.max_num_tokens);
  }

  void admit(EngineState& state, Seconds now, StepPlan& plan) const {
    Request& request = state.admit(state.waiting.front(), 0, now);
    if (!policy_.kv_grows()) state.kv.reserve(request, tokens_to_hold(request));
    state.schedule_chunk(request, request.tokens_to_compute(), plan);
  }

  TrtLlm policy_;
  std::int64_t waited_ = 0;  // steps that prompts have waited for company
};

}  // namespace

std::unique_ptr<Batcher> TrtLlm::make() const { return std::make_unique<TrtLlmBatcher>(*this); }

const Fields<TrtLlm>& trtllm_fields() {
  static const Fields<TrtLlm> fields = [] {
    Fields<TrtLlm> f("trtllm", "in-flight batching with whole prompts, as TensorRT-LLM schedules it");
    f.add("max_batch_size", &TrtLlm::max_batch_size, "most sequences that run at once").between(1, 65536);
    f.add("max_num_tokens", &TrtLlm::max_num_tokens, "token budget of one step; a longer prompt runs alone")
        .between(1, 1 << 24);
    f.add_enum(
        "capacity", &TrtLlm::capacity,
        {{"guaranteed_no_evict", TrtLlm::Capacity::guaranteed_no_evict},
         {"max_utilization", TrtLlm::Capacity::max_utilization}},
        "KV blocks demanded at admission: for prompt and answer, or for the prompt, so that the last admitted may "
        "be preempted");
    f.add("batch_wait_steps", &TrtLlm::batch_wait_steps,
          "most steps that prompts wait for company while others decode (batch_wait_timeout_iters)")
        .between(0, 1e6);
    f.add("batch_wait_share", &TrtLlm::batch_wait_share,
          "share of max_num_tokens from which a step does not wait (batch_wait_max_tokens_ratio)")
        .between(0, 1);
    f.add("overlap_scheduler", &TrtLlm::overlap_scheduler, "plans the next step while the present one runs");
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
