// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/workloads/support.hpp"
#include "workloads/streams/prompts.hpp"

namespace llmscape::workloads {

TEST_CASE("an agent searches for what it answered") {
  const auto program = programs_of("{kind: agents, tool: search, calls: {kind: fixed, value: 3}}", 1).front();
  REQUIRE(program.stages.size() == 5);
  for (const std::size_t search : {1, 3}) {
    CHECK(program.stages[search].kind == Stage::Kind::retrieval);
    CHECK(program.stages[search].query_tokens == program.stages[search - 1].output_tokens);
    CHECK(program.stages[search].service == Seconds(0));
  }
}

TEST_CASE("an agent's steps that fan out take their times, and the context gains what the join brings") {
  const std::string agent =
      "{kind: agents, system_prompt: 0, task: {kind: fixed, value: 100}, calls: {kind: fixed, value: 2}, output: "
      "{kind: "
      "fixed, value: 10}, fan_out: {kind: fixed, value: 2}";
  const auto plain = programs_of(agent + "}", 1)[0].stages;
  const auto timed = programs_of(agent +
                                     ", fan_out_time: {kind: fixed, value: 3 s}, join_time: {kind: fixed, value: 4 s}, "
                                     "join_result: {kind: fixed, value: 5}}",
                                 1)[0]
                         .stages;
  REQUIRE(timed.size() == 4);
  CHECK(plain[3].delay == Seconds(0));
  CHECK(tokens_of(plain[3].prompt) == 100 + 10 + 2 * 10);
  for (const std::size_t branch : {1, 2}) CHECK(timed[branch].delay == Seconds(3));
  CHECK(timed[3].delay == Seconds(4));
  CHECK(tokens_of(timed[3].prompt) == 100 + 10 + 2 * 10 + 5);
  CHECK(common_prefix(timed[3].prompt, timed[0].prompt) == 100);
}

TEST_CASE("an agent's context only grows: each call sees the last prompt, its answer and the tool's result") {
  for (const Program& program : programs_of("{kind: agents, system_prompt: 200}", 100)) {
    Prompt context;
    for (std::size_t i = 0; i < program.stages.size(); i += 2) {
      const Stage& call = program.stages[i];
      REQUIRE(call.kind == Stage::Kind::model_call);
      CHECK(starts_with(call.prompt, context));
      CHECK(call.prompt.size() == (i == 0 ? 2 : context.size() + 1));
      context = call.prompt;
      append(context, {call.output, call.output_tokens});
      if (i > 0) CHECK(program.stages[i - 1].kind == Stage::Kind::tool);
    }
  }
}

TEST_CASE("parallel sub-calls start together and are joined: the next call waits for all and reads all answers") {
  const auto program = programs_of(
                           "{kind: agents, calls: {kind: fixed, value: 2}, fan_out: {kind: fixed, value: 3}, "
                           "output: {kind: fixed, value: 40}, subtask: {kind: fixed, value: 15}}",
                           1)
                           .front();
  REQUIRE(program.stages.size() == 5);
  Prompt joined = program.stages[0].prompt;
  append(joined, {program.stages[0].output, 40});
  const Prompt asked = joined;
  for (std::size_t i = 1; i <= 3; ++i) {
    CHECK(program.stages[i].after == std::vector<int>{0});
    CHECK(starts_with(program.stages[i].prompt, asked));
    CHECK(tokens_of(program.stages[i].prompt) == tokens_of(asked) + 15);
    append(joined, {program.stages[i].output, 40});
  }
  CHECK(program.stages[4].after == std::vector<int>{1, 2, 3});
  CHECK(program.stages[4].prompt == joined);
}

}  // namespace llmscape::workloads
