// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batchers/static_batch.hpp"

#include <algorithm>
#include <vector>

namespace llmscape::serving {

namespace {

class StaticBatcher : public Batcher {
 public:
  explicit StaticBatcher(StaticBatch policy) : policy_(std::move(policy)) {}

  void plan(EngineState& state, Seconds now, StepPlan& plan) override {
    if (state.running.size() == 0) {
      start_batch(state, now, plan);
    } else if (state.decoding.size() > 0) {
      const std::int64_t padded = context_ + state.decoding.most_tokens();
      state.schedule_decodes(plan);
      context_ += state.decoding.last_growth();
      sequences_ = std::max(sequences_, plan.decodes);  // some came by KV transfer
      plan.idle_decodes = sequences_ - plan.decodes;
      const std::int64_t longest = plan.attended.front().max;
      for (models::Attended& law : plan.attended) {
        if (law.max == longest) law.max = std::max(law.max, padded);  // not capped by a window: padded
        law.sum = law.max * sequences_;
      }
    }
  }

 private:
  void start_batch(EngineState& state, Seconds now, StepPlan& plan) {
    std::int64_t prompt = 0;
    std::int64_t output = 0;
    std::vector<Request*> batch;
    while (state.may_admit(policy_.max_batch)) {
      Request& next = state.waiting.front();
      // What was answered before its KV entries were lost is computed like its prompt.
      const std::int64_t padded_prompt = std::max(prompt, next.tokens_to_compute());
      const std::int64_t padded_output = std::max(output, next.answer_here() - next.emitted);
      const auto members = static_cast<std::int64_t>(batch.size()) + 1;
      // Blocks may still be read by replicas to which requests were transferred.
      const std::int64_t blocks = state.kv.pool.blocks_for(padded_prompt + padded_output) * members;
      if (blocks + state.kv.window_blocks(next) > state.kv.pool.available()) break;
      if (padded_prompt * members > policy_.max_prompt_tokens && !batch.empty()) break;
      prompt = padded_prompt;
      output = padded_output;
      batch.push_back(&state.admit(next, 0, now));
    }
    for (Request* request : batch) {
      state.kv.reserve(*request, prompt + output);
      state.schedule_chunk(*request, request->tokens_to_compute(), plan);
      plan.chunks.back().work.tokens = prompt;
    }
    sequences_ = static_cast<std::int64_t>(batch.size());
    context_ = prompt;
  }

  StaticBatch policy_;
  std::int64_t sequences_ = 0;  // of the batch, those that have ended included
  std::int64_t context_ = 0;    // padded
};

}  // namespace

std::unique_ptr<Batcher> StaticBatch::make() const { return std::make_unique<StaticBatcher>(*this); }

const Fields<StaticBatch>& static_batch_fields() {
  static const Fields<StaticBatch> fields = [] {
    Fields<StaticBatch> f("static", "request-level batches, padded to the longest prompt and the longest answer");
    f.add("max_batch", &StaticBatch::max_batch, "most requests of a batch").between(1, 65536);
    f.add("max_prompt_tokens", &StaticBatch::max_prompt_tokens,
          "most padded prompt tokens of a batch, unless one prompt alone is longer")
        .between(1, 1 << 24);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
