// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/support/approx.hpp"
#include "tests/unit/workloads/support.hpp"
#include "traces/prefix_reuse.hpp"

using llmscape::testing::approx;

namespace llmscape::workloads {
namespace {

const Stage& call_of(const Program& program) { return program.stages.front(); }

}  // namespace

TEST_CASE("prompts follow their quantiles, and answers those of the prompts of like length") {
  // Half of the prompts from 100 to 200 tokens, with answers of 10; half from 200 to 1000, with answers of 20 to 40.
  const auto programs = programs_of(
      "{kind: joint_lengths, shares: [0, 0.5, 1], prompt: [100, 200, 1000], parts: [{output: [10, 10, 10]}, {output: "
      "[20, 30, 40]}]}",
      10'000);
  double prompts = 0, answers = 0, below = 0;
  for (const Program& program : programs) {
    const std::int64_t tokens = tokens_of(call_of(program).prompt), answer = call_of(program).output_tokens;
    REQUIRE((tokens >= 100 && tokens <= 1000));
    if (tokens < 200) REQUIRE(answer == 10);
    if (tokens > 200) REQUIRE((answer >= 20 && answer <= 40));
    prompts += static_cast<double>(tokens);
    answers += static_cast<double>(answer);
    below += tokens < 150 ? 1 : 0;
  }
  // Means: (150 + 600) / 2 and (10 + 30) / 2; a quarter is below 150. Four standard errors.
  CHECK(prompts / 1e4 == approx(375).epsilon(4 * 280 / 1e2 / 375));
  CHECK(answers / 1e4 == approx(20).epsilon(4 * 11 / 1e2 / 20));
  CHECK(std::abs(below / 1e4 - 0.25) < 4 * std::sqrt(0.25 * 0.75 / 1e4));
}

TEST_CASE("a cache without end finds the share of the prompts that is to be reused, from any earlier prompt") {
  // Prompts of 1000 tokens, of which a uniform share from 0 to 0.8 is the head of an earlier one: 0.4 of all tokens.
  const auto programs = programs_of(
      "{kind: joint_lengths, shares: [0, 1], prompt: [1000, 1000], parts: [{output: [1, 1], reused: [0, 0.8]}], "
      "continues: {age: [0, 0]}}",
      10'000);
  traces::PrefixTree tree;
  double reused = 0;
  for (const Program& program : programs) {
    REQUIRE(tokens_of(call_of(program).prompt) == 1000);
    REQUIRE(program.session != 0);
    reused += static_cast<double>(tree.add(call_of(program).prompt));
  }
  CHECK(reused / 1e7 == approx(0.4).epsilon(4 * 0.231 / 1e2 / 0.4));
}

TEST_CASE("a call continues the prompt of the age drawn, in whole units, and its session where most of it lives on") {
  // Prompts of 1000 tokens of which 0.6 is reused: 600, that is nine units of 64, from 100 s before.
  const auto maker =
      read(streams(),
           "{kind: joint_lengths, shares: [0, 1], prompt: [1000, 1000], parts: [{output: [1, 1], reused: "
           "[0.6, 0.6]}], continues: {age: [100, 100], granularity: 64}}")
          ->maker(RandomStreams(1), 0);
  const Program first = maker->make(Seconds(0));
  CHECK(call_of(first).prompt.size() == 1);
  const Program second = maker->make(Seconds(100));
  REQUIRE(call_of(second).prompt.size() == 2);
  CHECK(call_of(second).prompt.front() == Segment{call_of(first).prompt.front().id, 576, 0});
  CHECK(call_of(second).prompt.back().tokens == 424);
  CHECK(second.session == first.session);  // 576 of 1000 live on
}

TEST_CASE("of the prompts of that time, the shortest that is long enough is continued") {
  // From the shortest prompts to the longest: 100 tokens without reuse, then 1000 of which 0.09 is reused.
  const auto maker =
      read(streams(),
           "{kind: joint_lengths, shares: [0, 0.5, 0.501, 1], prompt: [100, 100, 1000, 1000], parts: "
           "[{output: [1, 1, 1, 1]}, {output: [1, 1, 1, 1], reused: [0.09, 0.09, 0.09, 0.09]}], continues: "
           "{age: [0, 0, 0, 0]}}")
          ->maker(RandomStreams(1), 0);
  std::vector<Program> programs;
  for (int i = 0; i < 40; ++i) programs.push_back(maker->make(Seconds(0)));
  int checked = 0;
  bool short_seen = false;
  for (const Program& program : programs) {
    const Prompt& prompt = call_of(program).prompt;
    if (prompt.size() == 2 && short_seen) {
      const auto parent = std::ranges::find_if(
          programs, [&](const Program& earlier) { return call_of(earlier).prompt.front().id == prompt.front().id; });
      CHECK(tokens_of(call_of(*parent).prompt) == 100);
      ++checked;
    }
    short_seen = short_seen || tokens_of(prompt) == 100;
  }
  CHECK(checked > 5);
}

TEST_CASE("a call is continued however many came behind it") {
  // A call a second, of 48 tokens. Half of them are new, half continue with 32 tokens one of 20,000 s before: of the
  // equally long ones around that time the first that is looked at, the last one earlier.
  const auto maker =
      read(streams(),
           "{kind: joint_lengths, shares: [0, 1], prompt: [48, 48], parts: [{output: [1, 1]}, {output: [1, 1], reused: "
           "[0.667, 0.667]}], continues: {age: [20000, 20000], granularity: 16}}")
          ->maker(RandomStreams(1), 0);
  std::vector<ContentId> heads;
  int reused = 0;
  for (int i = 0; i < 40'000; ++i) {
    const Program program = maker->make(Seconds(i));
    const Prompt& prompt = call_of(program).prompt;
    heads.push_back(prompt.front().id);
    if (i <= 20'000 || prompt.size() == 1) continue;
    ++reused;
    REQUIRE(prompt.front().id == heads[static_cast<std::size_t>(i - 20'001)]);
  }
  CHECK(std::abs(reused - 10'000) < 4 * 71);  // half of 20,000
}

TEST_CASE("ages go as fast as the time between arrivals") {
  const std::string law =
      "arrivals: {kind: poisson, rate: 2 /s}, stream: {kind: joint_lengths, shares: [0, 0.5, 1], prompt: [64, 640, "
      "6400], parts: [{output: [5, 50, 500], reused: [0, 0.5, 1]}], continues: {age: [1, 100, 1000], granularity: "
      "16}}}";
  const auto stated = all_of("{requests: 2000, " + law);
  // 64 is a power of two: all times are divided without a rounding.
  for (const char* faster : {"{requests: 2000, speedup: 64, ", "{requests: 2000, rate: 128 /s, ",
                             "{requests: 2000, speedup: 32, rate: 4 /s, "}) {
    CAPTURE(faster);
    const auto programs = all_of(faster + law);
    REQUIRE(programs.size() == 2000);
    for (std::size_t i = 0; i < programs.size(); ++i) {
      REQUIRE(programs[i].start.si() == stated[i].start.si() / 64);
      REQUIRE(programs[i].stages == stated[i].stages);
    }
  }
}

TEST_CASE("all mistakes of joint lengths are said") {
  const std::string mistakes = mistakes_of(
      "{requests: 1, arrivals: {kind: poisson, rate: 1 /s}, stream: {kind: joint_lengths, shares: [0, 0.5], prompt: "
      "[9, "
      "8], parts: [{output: [1]}, {output: [1, 2], reused: [0, 1]}]}}");
  for (const char* said : {"'shares' must rise from 0 to 1", "'prompt' must not fall",
                           "'output' of part 1 must be as many as 'shares': 2, "
                           "not 1",
                           "heads are 'reused', but 'continues' does not say whose"})
    CHECK_MESSAGE(mistakes.find(said) != std::string::npos, mistakes);
}

}  // namespace llmscape::workloads
