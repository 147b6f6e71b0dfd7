// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batchers/layered.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "sim/engine/layer_share.hpp"

namespace llmscape::serving {

namespace {

// One of so many groups of layers computes the chunks, all compute the decodes.
class OneGroup : public StepShape {
 public:
  explicit OneGroup(std::int64_t groups) : share_(1 / static_cast<double>(groups)) {}

  [[nodiscard]] engine::EngineCost price(engine::EngineModel& model, const models::Batch& batch) const override {
    return engine::step_by_layers(model, batch);
  }
  [[nodiscard]] double chunk_layers() const override { return share_; }

 private:
  double share_;
};

class LayeredBatcher : public Batcher {
 public:
  explicit LayeredBatcher(Layered policy) : policy_(std::move(policy)) {}

  void plan(EngineState& state, Seconds now, StepPlan& plan) override {
    const std::int64_t preempted_before = state.counts.preemptions;
    while (!state.decodes_fit())
      if (!state.preempt_last(now, true)) return;
    state.schedule_decodes(plan);
    const bool preempted = state.counts.preemptions > preempted_before;
    drop_those_that_left(state);
    if (cohort_.empty() && (!preempted || plan.decodes == 0)) gather(state, now, !preempted);
    if (!cohort_.empty()) walk(state, plan);
    plan.steady = plan.chunks.empty() && !preempted && state.prefilling.empty();
  }

 private:
  struct Part {
    Request* request;
    std::uint64_t id;  // the place of a request that left may hold another one
    std::int64_t tokens;
  };

  void drop_those_that_left(const EngineState& state) {
    std::erase_if(cohort_, [&](const Part& part) {
      return std::ranges::find(state.prefilling, part.request) == state.prefilling.end() || part.request->id != part.id;
    });
  }

  // Prompts that were cut go on, then come those that wait, in order; the first that does not fit stops them.
  void gather(EngineState& state, Seconds now, bool may_admit) {
    std::int64_t left = policy_.max_cohort_tokens;
    const auto take = [&](Request& request) {
      const std::int64_t tokens = std::min(left, request.tokens_to_compute() - request.sequence.computed);
      cohort_.push_back({&request, request.id, tokens});
      left -= tokens;
    };
    for (Request* request : state.prefilling)
      if (left > 0) take(*request);
    while (may_admit && left > 0 && state.may_admit(policy_.max_num_seqs)) {
      Request& next = state.waiting.front();
      const std::int64_t tokens = next.tokens_to_compute();
      if (state.kv.pool.available() < state.kv.blocks_of_prompt(tokens) + state.kv.window_blocks(next)) break;
      state.kv.reserve(state.admit(next, 0, now), tokens);
      take(next);
    }
    groups_ = policy_.groups(policy_.max_cohort_tokens - left);
    group_ = 0;
  }

  void walk(EngineState& state, StepPlan& plan) {
    const bool last = group_ + 1 == groups_;
    for (const Part& part : cohort_) {
      if (last) state.schedule_chunk(*part.request, part.tokens, plan);
      else state.schedule_part(*part.request, part.tokens, plan);
      if (group_ > 0) plan.chunks.back().begins = false;
    }
    shape_ = OneGroup(groups_);
    plan.shape = &shape_;
    ++group_;
    if (last) cohort_.clear();
  }

  Layered policy_;
  std::vector<Part> cohort_;
  OneGroup shape_{1};                    // of the last plan
  std::int64_t groups_ = 1, group_ = 0;  // of the cohort: how many there are, the one that is next
};

}  // namespace

std::int64_t Layered::groups(std::int64_t tokens) const {
  if (grouping == Grouping::proportional)
    return std::clamp<std::int64_t>((tokens + tokens_per_group - 1) / tokens_per_group, 1, max_groups);
  std::int64_t groups = 1;
  while (groups < max_groups && tokens > groups * tokens_per_group) groups *= 2;
  return std::min(groups, max_groups);
}

std::vector<std::string> Layered::problems(const models::ModelSpec& model) const {
  if (max_groups <= model.layers()) return {};
  return {"'max_groups' (" + std::to_string(max_groups) + ") is above the " + std::to_string(model.layers()) +
          " layers of " + model.name};
}

std::unique_ptr<Batcher> Layered::make() const { return std::make_unique<LayeredBatcher>(*this); }

const Fields<Layered>& layered_fields() {
  static const Fields<Layered> fields = [] {
    using Grouping = Layered::Grouping;
    Fields<Layered> f("layered", "prompts pass one group of layers in a step, decodes pass all (layered prefill)");
    f.add("max_num_seqs", &Layered::max_num_seqs, "most sequences that run at once").between(1, 65536);
    f.add("max_cohort_tokens", &Layered::max_cohort_tokens,
          "most prompt tokens that pass the layers together; longer prompts are cut")
        .between(1, 1 << 24);
    f.add("tokens_per_group", &Layered::tokens_per_group, "prompt tokens for which there is one more group of layers")
        .between(1, 1 << 24);
    f.add("max_groups", &Layered::max_groups, "most groups of layers; no more than the model has layers")
        .between(1, 1024);
    f.add_enum("grouping", &Layered::grouping,
               {{"doubling", Grouping::doubling}, {"proportional", Grouping::proportional}},
               "how the number of groups grows with the prompts: in powers of two (the authors' code), or as "
               "ceil(tokens / tokens_per_group) (the paper)");
    f.add("async_scheduling", &Layered::async_scheduling, "plans the next step while the present one runs");
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
