// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batchers/sarathi.hpp"

#include <algorithm>

namespace llmscape::serving {

namespace {

class SarathiBatcher : public Batcher {
 public:
  explicit SarathiBatcher(Sarathi policy) : policy_(std::move(policy)) {}

  void plan(EngineState& state, Seconds now, StepPlan& plan) override {
    state.schedule_decodes(plan);
    if (state.prefilling.empty()) admit(state, now);
    if (!state.prefilling.empty()) {
      Request& request = *state.prefilling.front();
      const std::int64_t left = request.tokens_to_compute() - request.sequence.computed;
      state.schedule_chunk(request, std::min(left, chunk(plan.decode_tokens())), plan);
    }
    plan.steady = plan.chunks.empty() || state.only_decodes();
  }

 private:
  [[nodiscard]] std::int64_t chunk(std::int64_t decode_tokens) const {
    if (policy_.tile == 0) return policy_.chunk_size;
    const std::int64_t tiles = (policy_.chunk_size + decode_tokens) / policy_.tile;
    const std::int64_t tokens = tiles * policy_.tile - decode_tokens;
    return tokens > 0 ? tokens : policy_.chunk_size;
  }

  void admit(EngineState& state, Seconds now) const {
    if (!state.may_admit(policy_.max_batch)) return;
    Request& next = state.waiting.front();
    const std::int64_t length = next.prompt_tokens + next.answer_here();
    if (state.kv.pool.available() < state.kv.pool.blocks_for(length) + state.kv.window_blocks(next)) return;
    state.kv.reserve(state.admit(next, 0, now), length);
  }

  Sarathi policy_;
};

}  // namespace

std::unique_ptr<Batcher> Sarathi::make() const { return std::make_unique<SarathiBatcher>(*this); }

const Fields<Sarathi>& sarathi_fields() {
  static const Fields<Sarathi> fields = [] {
    Fields<Sarathi> f("sarathi", "one chunk of one prompt in a step, and all decodes beside it (SARATHI)");
    f.add("chunk_size", &Sarathi::chunk_size, "most prompt tokens of a step").between(1, 1 << 24);
    f.add("max_batch", &Sarathi::max_batch, "most sequences of a step, the one of the chunk included")
        .between(1, 65536);
    f.add(
         "tile", &Sarathi::tile,
         "tokens of which chunk and decodes together are kept a multiple, by a shorter chunk; 0: the chunk stays whole")
        .between(0, 65536);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
