// SPDX-License-Identifier: Apache-2.0
#include "sim/live/engine.hpp"

#include <doctest/doctest.h>

#include <set>

#include "base/random.hpp"
#include "sim/live/cpu_executor.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"
#include "tests/unit/live/reference_model.hpp"

using namespace llmscape;
using namespace llmscape::live;

namespace {

const LlamaShape kShape = {.layers = 2,
                           .hidden = 64,
                           .heads = 4,
                           .kv_heads = 2,
                           .head_dim = 16,
                           .width = 96,
                           .vocabulary = 128,
                           .max_position = 256,
                           .tied = false};

serving::VllmV1 policy(std::int64_t sequences, std::int64_t tokens) {
  serving::VllmV1 p;
  p.max_num_seqs = sequences;
  p.max_num_batched_tokens = tokens;
  p.async_scheduling = false;
  p.enable_prefix_caching = false;
  return p;
}

// Runs each step on the CPU, and checks the logits of everything that it answers against the reference. What a sequence
// holds is known from a shadow of the KV memory that keeps tokens where the model keeps keys and values.
class CheckedExecutor : public Executor {
 public:
  CheckedExecutor(const LlamaShape& shape, const ExecutorLimits& limits)
      : cpu_(shape, limits), reference_(shape), shadow_(static_cast<std::size_t>(limits.kv_blocks * kBlockTokens), -1) {
  }
  [[nodiscard]] std::string_view backend() const override { return cpu_.backend(); }
  [[nodiscard]] std::string_view format() const override { return cpu_.format(); }
  [[nodiscard]] std::map<std::string, std::string> context() const override { return cpu_.context(); }
  void prepare() override { cpu_.prepare(); }

  StepTimes run(const StepInput& input, std::span<std::int32_t> next) override {
    const StepTimes times = cpu_.run(input, next);
    check_disjoint(input);
    std::size_t row = 0;
    std::int64_t answer = 0;
    for (std::size_t i = 0; i < input.tables.size(); ++i) {
      const bool decode = i < input.contexts.size();
      const models::PrefillChunk chunk =
          decode ? models::PrefillChunk{1, input.contexts[i] - 1, true} : input.chunks[i - input.contexts.size()];
      for (std::int64_t t = 0; t < chunk.tokens; ++t, ++row) {
        REQUIRE(input.positions[row] == chunk.cached + t);
        at(input.tables[i], chunk.cached + t) = input.tokens[row];
      }
      if (chunk.ends_prompt) check(input.tables[i], chunk.cached + chunk.tokens, cpu_.logits(answer++));
    }
    CHECK(answer == input.answers());
    return times;
  }

  [[nodiscard]] double worst() const { return worst_; }

 private:
  std::int32_t& at(std::span<const std::int32_t> table, std::int64_t position) {
    return shadow_[static_cast<std::size_t>(table[static_cast<std::size_t>(position / kBlockTokens)] * kBlockTokens +
                                            position % kBlockTokens)];
  }
  static void check_disjoint(const StepInput& input) {
    std::set<std::int32_t> seen;
    for (const auto table : input.tables)
      for (const std::int32_t block : table) CHECK(seen.insert(block).second);
  }
  void check(std::span<const std::int32_t> table, std::int64_t length, std::span<const float> logits) {
    std::vector<std::int32_t> tokens;
    for (std::int64_t i = 0; i < length; ++i) tokens.push_back(at(table, i));
    const std::vector<double> expected = reference_.logits(tokens);
    for (std::size_t i = 0; i < expected.size(); ++i) worst_ = std::max(worst_, std::abs(expected[i] - logits[i]));
  }

  CpuExecutor cpu_;
  ReferenceModel reference_;
  std::vector<std::int32_t> shadow_;
  double worst_ = 0;
};

struct Served {
  traces::EngineRecord record;
  std::vector<std::vector<std::int32_t>> answers;
  double worst = 0;  // difference of a logit
};

Served serve(const std::vector<LiveRequest>& requests, const serving::VllmV1& p, std::int64_t kv_blocks,
             double closes_s = 1e9) {
  CheckedExecutor executor(kShape, {p.max_tokens(), p.max_sequences(), kShape.max_position, kv_blocks});
  EngineSettings settings;
  settings.kv_blocks = kv_blocks;
  settings.closes_s = closes_s;
  Engine engine(kShape, p, executor, settings);
  engine.run(requests, [](double) {});
  Served served{engine.record(), {}, executor.worst()};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto answer = engine.answer(i);
    served.answers.emplace_back(answer.begin(), answer.end());
  }
  return served;
}

// Logits are of the order of 1; single precision over sums of 96 terms and two layers.
constexpr double kTolerance = 1e-4;

constexpr double kRounding = 2.5e-9;  // five times to the nearest nanosecond

const std::vector<LiveRequest> kRequests = {{0, 37, 12}, {0, 5, 20}, {0, 60, 3}, {0, 16, 1}, {0, 33, 17}, {1e-4, 7, 9}};

}  // namespace

TEST_CASE("chunks, decodes and their mixtures give the logits of the whole sequence in double precision") {
  const Served served = serve(kRequests, policy(4, 24), 64);
  CHECK(served.worst > 0);
  CHECK(served.worst < kTolerance);
  bool mixed = false, cut = false;
  for (const traces::EngineStep& step : served.record.steps) {
    mixed |= !step.decodes.empty() && !step.chunks.empty();
    for (const auto& chunk : step.chunks) cut |= chunk.cached > 0;
  }
  CHECK(mixed);
  CHECK(cut);
}

TEST_CASE("a preempted request goes on where it stood") {
  // The first two grow to 55 tokens in the cache each, 8 blocks together.
  const std::vector<LiveRequest> growing = {{0, 16, 40}, {0, 16, 40}, {0, 20, 5}};
  const Served tight = serve(growing, policy(4, 24), 6), roomy = serve(growing, policy(4, 24), 64);
  std::int64_t computed = 0;
  for (const traces::EngineStep& step : tight.record.steps)
    for (const auto& chunk : step.chunks) computed += chunk.tokens;
  CHECK(computed > 16 + 16 + 20);  // somebody's tokens were computed twice
  CHECK(tight.worst < kTolerance);
  CHECK(tight.answers == roomy.answers);
}

TEST_CASE("an answer does not depend on who else is served") {
  const Served together = serve(kRequests, policy(6, 64), 64), few = serve(kRequests, policy(2, 16), 64);
  CHECK(together.answers == few.answers);
  double margin = 1;
  const ReferenceModel reference(kShape);
  RandomStream random = RandomStreams(EngineSettings().seed).stream("prompt", 1);
  std::vector<std::int32_t> prompt;
  for (int i = 0; i < 5; ++i) prompt.push_back(static_cast<std::int32_t>(random.below(128)));
  CHECK(together.answers[1] == reference.answer(prompt, 20, margin));
  CHECK(margin > kTolerance);  // else rounding could decide
}

TEST_CASE("the record has every token once and times in order") {
  const Served served = serve(kRequests, policy(4, 24), 64);
  std::int64_t prompt_tokens = 0, answers = 0;
  double clock = 0;
  for (const traces::EngineStep& step : served.record.steps) {
    CHECK(step.start_s >= clock - kRounding);
    clock = step.start_s + step.schedule_s + step.issue_s + step.device_s;
    answers += static_cast<std::int64_t>(step.decodes.size());
    std::int64_t tokens = static_cast<std::int64_t>(step.decodes.size());
    for (const auto& chunk : step.chunks) {
      prompt_tokens += chunk.tokens;
      tokens += chunk.tokens;
      answers += chunk.ends_prompt ? 1 : 0;
    }
    CHECK(tokens <= 24);
    CHECK(step.decodes.size() + step.chunks.size() <= 4);
    CHECK(step.device_s > 0);
    CHECK(step.wall_s > 0);
  }
  CHECK(prompt_tokens == 37 + 5 + 60 + 16 + 33 + 7);
  CHECK(answers == 12 + 20 + 3 + 1 + 17 + 9);
  REQUIRE(served.record.requests.size() == kRequests.size());
  for (const traces::EngineRequest& r : served.record.requests) {
    CHECK(r.arrival_s <= r.scheduled_s);
    CHECK(r.scheduled_s < r.first_token_s);
    CHECK(r.first_token_s <= r.last_token_s);
    CHECK(r.last_token_s <= clock + kRounding);
  }
  CHECK(served.record.clock == "thread cpu time");
  CHECK(served.record.backend == "cpu");
}

TEST_CASE("on its own clock an idle engine jumps to the next arrival") {
  const Served served = serve({{0, 8, 2}, {1000, 8, 2}}, policy(4, 24), 64);
  REQUIRE(served.record.steps.size() == 4);
  CHECK(served.record.steps[2].start_s == 1000);
}

TEST_CASE("a closing engine finishes what it has begun and takes up nobody") {
  const std::vector<LiveRequest> requests = {{0, 8, 30}, {0, 8, 30}, {0, 8, 30}, {500, 8, 2}};
  // Two run, one waits, one comes later; the engine closes before its second step.
  const Served served = serve(requests, policy(2, 24), 64, 1e-9);
  REQUIRE(served.record.requests.size() == 2);
  CHECK(served.record.requests[1].id == "1");
  CHECK(served.record.steps.size() == 30);
  CHECK(served.answers[2].empty());
}

TEST_CASE("an engine refuses what it cannot do") {
  CpuExecutor executor(kShape, {24, 4, 256, 8});
  serving::VllmV1 p = policy(4, 24);
  p.async_scheduling = true;
  CHECK_THROWS_AS(Engine(kShape, p, executor, EngineSettings{8}), std::invalid_argument);
}
