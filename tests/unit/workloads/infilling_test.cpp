// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/workloads/support.hpp"
#include "workloads/streams/prompts.hpp"

#include <cmath>

namespace llmscape::workloads {
namespace {

// Five rounds over a file whose second half of 1,400 tokens is the suffix; 200 tokens are typed between rounds.
std::string five_rounds(const std::string& form, const std::string& more) {
  return "{kind: infilling, form: " + form +
         ", prefix: {kind: fixed, value: 400}, suffix: {kind: fixed, value: 1400}, typed: {kind: fixed, value: 200}, "
         "suggestions: {kind: fixed, value: 5}, output: {kind: fixed, value: 128}, cadence: {kind: fixed, value: 2 s}, "
         "patience: {kind: fixed, value: 300 ms}, move: 0, " +
         more + "}";
}

std::vector<Stage> calls_of(const Program& program) {
  std::vector<Stage> calls;
  for (const Stage& stage : program.stages)
    if (stage.kind == Stage::Kind::model_call) calls.push_back(stage);
  return calls;
}

std::int64_t reused_tokens(const Program& program) {
  const auto calls = calls_of(program);
  std::int64_t reused = 0;
  for (std::size_t i = 1; i < calls.size(); ++i) reused += common_prefix(calls[i - 1].prompt, calls[i].prompt);
  return reused;
}

}  // namespace

TEST_CASE("the rounds of the EFIM paper reuse 42/55 of the text with EFIM and 14/55 with PSM") {
  // H = 1,400: round i has H (1 + (i + 2) / 7) tokens and three special ones: 55 H / 7 + 15 in all. EFIM reuses the
  // whole prompt before, H (1 + (i + 1) / 7) + 3; PSM reuses PRE and the prefix before, H (i + 1) / 7 + 1.
  const auto efim = programs_of(five_rounds("efim", "accept: 0, abandon: 0"), 1).front();
  const auto psm = programs_of(five_rounds("psm", "accept: 0, abandon: 0"), 1).front();
  std::int64_t total = 0;
  for (const Stage& call : calls_of(efim)) total += tokens_of(call.prompt);
  CHECK(total == 11'000 + 15);
  CHECK(reused_tokens(efim) == 8'400 + 12);
  CHECK(reused_tokens(psm) == 2'800 + 4);
}

TEST_CASE("an accepted suggestion joins the prefix, and the next one waits for it") {
  const auto program = programs_of(five_rounds("efim", "accept: 1"), 1).front();
  const auto calls = calls_of(program);
  // EFIM: prompt, answer and 200 new tokens are the next prompt.
  Prompt expected = calls[0].prompt;
  append(expected, {calls[0].output, 128});
  CHECK(common_prefix(expected, calls[1].prompt) == tokens_of(expected));
  CHECK(tokens_of(calls[1].prompt) == tokens_of(expected) + 200);
  const Stage& pause = program.stages[1];
  CHECK(pause.kind == Stage::Kind::pause);
  CHECK(pause.after == std::vector<int>{0});
  CHECK(program.stages[2].after == std::vector<int>{1});
  for (const Stage& call : calls) CHECK(call.give_up == kNever);
}

TEST_CASE("typing goes on without the answers, unless the pace is that of the answers") {
  // Typing: call, pause, call, pause, call ... where each pause follows the pause before.
  const auto typing = programs_of(five_rounds("psm", "accept: 0, abandon: 0"), 1).front();
  REQUIRE(typing.stages.size() == 9);
  CHECK(typing.stages[1].after.empty());
  CHECK(typing.stages[1].delay == Seconds(2));
  CHECK(typing.stages[2].after == std::vector<int>{1});
  CHECK(typing.stages[3].after == std::vector<int>{1});
  const auto answers = programs_of(five_rounds("psm", "accept: 0, abandon: 0, pace: answers"), 1).front();
  REQUIRE(answers.stages.size() == 5);
  CHECK(answers.stages[1].after == std::vector<int>{0});
  CHECK(answers.stages[1].delay == Seconds(2));
}

TEST_CASE("the shares of abandoned suggestions are those configured, and only others are accepted") {
  constexpr int kSessions = 2000;
  int calls = 0, abandoned = 0;
  for (const Program& program : programs_of(five_rounds("psm", "accept: 0.25, abandon: 0.4"), kSessions))
    for (const Stage& call : calls_of(program)) {
      ++calls;
      if (call.give_up == kNever) continue;
      ++abandoned;
      CHECK(call.give_up == Seconds(0.3));
    }
  CHECK(calls == 5 * kSessions);
  const double expected = 0.75 * 0.4;
  CHECK(std::abs(static_cast<double>(abandoned) / calls - expected) < 4 * std::sqrt(expected * (1 - expected) / calls));
}

TEST_CASE("users share nothing but the special tokens") {
  const auto programs = programs_of(five_rounds("efim", "accept: 0.5"), 2);
  CHECK(common_prefix(programs[0].stages[0].prompt, programs[1].stages[0].prompt) == 1);
  CHECK(programs[0].session != programs[1].session);
}

}  // namespace llmscape::workloads
