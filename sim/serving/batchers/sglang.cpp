// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batchers/sglang.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::serving {

namespace {

// Answers are expected to be no longer than this (SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION).
constexpr std::int64_t kLongestExpected = 4096;

// Chunks of equal time are multiples of so many tokens, and at least that many.
constexpr std::int64_t kChunkGrain = 64;

class SgLangBatcher : public Batcher {
 public:
  explicit SgLangBatcher(SgLang policy) : policy_(std::move(policy)) {}

  void plan(EngineState& state, Seconds now, StepPlan& plan) override {
    std::int64_t budget = prompt_tokens(state);
    continue_prompts(state, budget, plan);
    admit(state, now, budget, plan);
    if (!plan.chunks.empty()) {
      plan.steady = state.only_decodes();
      return;
    }
    const std::int64_t preempted = state.counts.preemptions;
    while (!state.decodes_fit())
      if (!state.preempt_last(now)) return;
    if (state.counts.preemptions > preempted) fresh_since_ = state.decoding.step();
    state.schedule_decodes(plan);
    // With prompts waiting, the falling ratio may let one in at any step.
    plan.steady = state.counts.preemptions == preempted && state.waiting.empty();
  }

 private:
  [[nodiscard]] double ratio(const EngineState& state) const {
    const auto steps = static_cast<double>(state.decoding.step() - fresh_since_);
    const double fall =
        (policy_.new_token_ratio - policy_.least_new_token_ratio) * steps / static_cast<double>(policy_.decay_steps);
    return std::max(policy_.least_new_token_ratio, policy_.new_token_ratio - fall);
  }

  // Of this step. Where chunks are to last equally long: as many as take no longer behind what is cached than the first
  // chunk of a prompt does, in multiples of kChunkGrain.
  [[nodiscard]] std::int64_t prompt_tokens(const EngineState& state) const {
    if (policy_.chunks == SgLang::Chunks::equal_tokens || state.prefilling.empty()) return policy_.chunked_prefill_size;
    const Request& request = *state.prefilling.front();
    const Seconds first = state.chunk_time(0, policy_.chunked_prefill_size);
    std::int64_t fits = 1, too_many = policy_.chunked_prefill_size / kChunkGrain + 1;
    while (too_many - fits > 1) {
      const std::int64_t middle = (fits + too_many) / 2;
      (state.chunk_time(request.sequence.computed, middle * kChunkGrain) <= first ? fits : too_many) = middle;
    }
    return std::min(policy_.chunked_prefill_size, fits * kChunkGrain);
  }

  // At most one prompt is cut: the last that was admitted, whose blocks are its own since. Others are those that came
  // from prefill servers and lack their last token.
  static void continue_prompts(EngineState& state, std::int64_t& budget, StepPlan& plan) {
    while (budget > 0 && !state.prefilling.empty()) {
      Request& request = *state.prefilling.front();
      const std::int64_t left = request.tokens_to_compute() - request.sequence.computed;
      const std::int64_t tokens = std::min(budget, left);
      state.schedule_chunk(request, tokens, plan);
      budget -= tokens;
      if (tokens < left) return;
    }
  }

  void admit(EngineState& state, Seconds now, std::int64_t& budget, StepPlan& plan) const {
    // What is free beside the answers that are expected of all that run; of prompts of this step, in full.
    auto free_tokens = static_cast<double>(state.kv.pool.available() * state.kv.pool.block_tokens()) -
                       ratio(state) * static_cast<double>(state.decoding.tokens_to_finish());
    while (budget > 0 && state.may_admit(policy_.max_running_requests)) {
      Request& next = state.waiting.front();
      const std::int64_t total = next.tokens_to_compute();
      const PrefixTree::Match hit = state.kv.match(next);
      const std::int64_t uncached = total - hit.blocks * state.kv.pool.block_tokens();
      const std::int64_t blocks = state.kv.blocks_of_prompt(total) - hit.blocks + state.kv.window_blocks(next, hit);
      // A prefill server asks for no more than the first token (prefill.py sets max_new_tokens to 1).
      const std::int64_t answer = std::clamp<std::int64_t>(next.answer_here() - next.emitted, 1, kLongestExpected);
      const auto expected =
          static_cast<double>((blocks + hit.unreferenced_blocks) * state.kv.pool.block_tokens() + answer);
      const bool alone = state.running.size() == 0;
      if (state.kv.pool.available() - hit.unreferenced_blocks < blocks || (!alone && free_tokens < expected)) return;
      free_tokens -= expected;
      const std::int64_t tokens = std::min(budget, uncached);
      Request& request = state.admit(next, hit.blocks, now);
      // Of one that is cut nobody else may take them meanwhile: fetches from below, KV entries that arrive.
      if (tokens < uncached)
        state.kv.reserve(request, std::min(total, state.kv.blocks_of_prompt(total) * state.kv.pool.block_tokens()));
      state.schedule_chunk(request, tokens, plan);
      budget -= tokens;
    }
  }

  SgLang policy_;
  std::int64_t fresh_since_ = 0;  // the decode step from which the expected share falls
};

}  // namespace

std::shared_ptr<const BatcherPolicy> SgLang::of_rank(std::int64_t ranks) const {
  auto own = std::make_shared<SgLang>(*this);
  own->max_running_requests = std::max<std::int64_t>(1, max_running_requests / ranks);
  return own;
}

std::unique_ptr<Batcher> SgLang::make() const { return std::make_unique<SgLangBatcher>(*this); }

const Fields<SgLang>& sglang_fields() {
  static const Fields<SgLang> fields = [] {
    Fields<SgLang> f("sglang", "prompts in steps of their own, before decodes, as SGLang schedules them");
    f.add("max_running_requests", &SgLang::max_running_requests, "most sequences that run at once").between(1, 65536);
    f.add("chunked_prefill_size", &SgLang::chunked_prefill_size, "most prompt tokens of a step").between(1, 1 << 24);
    f.add_enum("chunks", &SgLang::chunks,
               {{"equal_tokens", SgLang::Chunks::equal_tokens}, {"equal_time", SgLang::Chunks::equal_time}},
               "chunks of a prompt have as many tokens as the step may take, or last as long as the first of them");
    f.add("new_token_ratio", &SgLang::new_token_ratio,
          "share of a sequence's remaining answer that admission expects it to use, at first and after a preemption")
        .between(0, 1);
    f.add("least_new_token_ratio", &SgLang::least_new_token_ratio, "what that share falls to").between(0, 1);
    f.add("decay_steps", &SgLang::decay_steps, "decode steps over which it falls").between(1, 1e9);
    f.add("radix_cache", &SgLang::radix_cache, "keeps KV blocks for prompts with the same prefix");
    f.add("overlap_schedule", &SgLang::overlap_schedule, "plans the next step while the present one runs");
    f.check([](const SgLang& c, const YamlNode& node, Diagnostics& d) {
      if (c.least_new_token_ratio > c.new_token_ratio)
        d.error(node.where, "'least_new_token_ratio' must not be above 'new_token_ratio'");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
