// SPDX-License-Identifier: Apache-2.0
#include "tests/support/approx.hpp"
#include "tests/unit/workloads/support.hpp"
#include "workloads/streams/prompts.hpp"

#include <cmath>
#include <map>
#include <set>

using llmscape::testing::approx;

namespace llmscape::workloads {
namespace {

// Three voters with instructions of their own, a search beside them, and a merger that reads all but the input.
const std::string kVote =
    "{kind: workflow, input: {kind: uniform, min: 50, max: 90}, stages: ["
    "{name: a, instructions: 10, output: {kind: fixed, value: 100}}, "
    "{name: b, instructions: 20, output: {kind: fixed, value: 200}}, "
    "{name: search, kind: retrieval, service: {kind: fixed, value: 2 s}, output: {kind: fixed, value: 30}}, "
    "{name: merge, after: [a, b, search], instructions: 5, input: false, output: {kind: fixed, value: 7}}]}";

// Each kind of stream with its defaults, or a little more where a field decides which stages there are.
const std::map<std::string, std::vector<std::string>> kExamples = {
    {"lengths", {"{kind: lengths, prompt: {kind: uniform, min: 0, max: 9}, output: {kind: geometric, mean: 3}}"}},
    {"chat", {"chat", "{kind: chat, context: 500}"}},
    {"infilling",
     {"infilling", "{kind: infilling, pace: answers, form: efim, move: 0.5}", "{kind: infilling, form: spm}"}},
    {"rag",
     {"rag", "{kind: rag, search: hosts}",
      "{kind: rag, embedding: {kind: fixed, value: 5 ms}, retrieval: {kind: exponential, mean: 50 ms}}"}},
    {"streamed_retrieval",
     {"{kind: streamed_retrieval, context: {kind: log_normal, mean: 500, cv: 1}, chunks: {kind: geometric, mean: 4}, "
      "first: {kind: fixed, value: 1 s}, gap: {kind: exponential, mean: 1 s}, chunk_cv: 1, output: {kind: fixed, "
      "value: 1}}",
      "{kind: streamed_retrieval, chunk: {kind: log_normal, mean: 100, cv: 1}, context_max: 900, chunks: {kind: "
      "geometric, mean: 4}, first: {kind: fixed, value: 1 s}, gap: {kind: exponential, mean: 1 s}, output: {kind: "
      "fixed, "
      "value: 1}}",
      "{kind: streamed_retrieval, mode: update, context: {kind: fixed, value: 500}, chunks: {kind: fixed, value: 3}, "
      "first: {kind: fixed, value: 1 s}, gap: {kind: exponential, mean: 1 s}, output: {kind: fixed, value: 1}}"}},
    {"agents",
     {"agents", "{kind: agents, fan_out: {kind: uniform, min: 1, max: 4}, fan_out_chance: 0.3, tool: retrieval}",
      "{kind: agents, context: 4000}", "{kind: agents, tool: search}"}},
    {"workflow", {kVote}},
    {"joint_lengths",
     {"{kind: joint_lengths, shares: [0, 1], prompt: [0, 900], parts: [{output: [0, 9]}]}",
      "{kind: joint_lengths, shares: [0, 0.5, 1], prompt: [10, 20, 900], parts: [{output: [1, 2, 3], reused: [0, 0, "
      "1]}, "
      "{output: [5, 5, 50]}], continues: {age: [0, 1, 9]}}"}},
};

}  // namespace

TEST_CASE("every stream makes programs that can be executed: topological order, times and lengths in range") {
  for (const auto& kind : streams().members()) {
    CAPTURE(kind.name);
    for (const std::string& example : kExamples.at(kind.name)) {
      CAPTURE(example);
      for (const Program& program : programs_of(example, 1000)) {
        REQUIRE_FALSE(program.stages.empty());
        for (std::size_t i = 0; i < program.stages.size(); ++i) {
          const Stage& stage = program.stages[i];
          for (const int before : stage.after) REQUIRE((before >= 0 && before < static_cast<int>(i)));
          REQUIRE((stage.delay >= Seconds(0) && stage.delay < kNever));
          REQUIRE((stage.service >= Seconds(0) && stage.service < kNever));
          if (stage.kind != Stage::Kind::model_call) continue;
          REQUIRE(stage.output_tokens >= 1);
          REQUIRE(stage.give_up > Seconds(0));
          REQUIRE_FALSE(stage.prompt.empty());
          for (const Segment& segment : stage.prompt) REQUIRE((segment.tokens >= 1 && segment.offset >= 0));
        }
      }
    }
  }
}

TEST_CASE("every stream makes the same programs from the same seed, and others from another") {
  for (const auto& [kind, examples] : kExamples) {
    CAPTURE(kind);
    for (const std::string& example : examples) {
      CHECK(programs_of(example, 50, 1) == programs_of(example, 50, 1));
      CHECK(programs_of(example, 50, 1) != programs_of(example, 50, 2));
    }
  }
}

TEST_CASE("single calls share the system prompt and nothing else") {
  const auto programs = programs_of(
      "{kind: lengths, system_prompt: 30, prompt: {kind: fixed, value: 100}, output: {kind: fixed, value: 5}}", 2);
  CHECK(tokens_of(programs[0].stages[0].prompt) == 130);
  CHECK(common_prefix(programs[0].stages[0].prompt, programs[1].stages[0].prompt) == 30);
  CHECK(programs[0].stages[0].output_tokens == 5);
}

TEST_CASE("streamed retrieval: chunks are dealt out evenly unless weighted, at the times drawn") {
  const Program program = programs_of(
      "{kind: streamed_retrieval, question: {kind: fixed, value: 10}, context: {kind: fixed, value: 800}, chunks: "
      "{kind: fixed, value: 4}, first: {kind: fixed, value: 2 s}, gap: {kind: fixed, value: 1 s}, delay_factor: 10, "
      "output: {kind: fixed, value: 1}}",
      1)[0];
  const auto& versions = program.stages[0].versions;
  REQUIRE(versions.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(tokens_of(versions[i].prompt) == 10 + 200 * static_cast<std::int64_t>(i + 1));
    CHECK(versions[i].at.si() == approx(20 + 10 * static_cast<double>(i)));
    if (i > 0) CHECK(starts_with(versions[i].prompt, versions[i - 1].prompt));
  }
  CHECK(program.stages[0].prompt == versions.back().prompt);
}

TEST_CASE("streamed retrieval: a law of chunks makes contexts as long as their chunks are many, up to a limit") {
  const auto programs = programs_of(
      "{kind: streamed_retrieval, question: {kind: fixed, value: 10}, chunk: {kind: fixed, value: 100}, context_max: "
      "450, "
      "chunks: {kind: uniform, min: 1, max: 6}, first: {kind: fixed, value: 2 s}, gap: {kind: fixed, value: 1 s}, "
      "output: {kind: fixed, value: 1}}",
      100);
  for (const Program& program : programs) {
    const auto chunks = static_cast<std::int64_t>(program.stages[0].versions.size());
    CHECK(tokens_of(program.stages[0].prompt) == 10 + std::min<std::int64_t>(450, 100 * chunks));
  }
}

TEST_CASE("streamed retrieval: a law that draws two thousand million chunks gives no more than 100,000") {
  const auto programs = programs_of(
      "{kind: streamed_retrieval, mode: update, context: {kind: fixed, value: 50}, chunks: {kind: fixed, value: "
      "2000000000}, first: {kind: fixed, value: 2 s}, gap: {kind: fixed, value: 1 s}, output: {kind: fixed, value: 1}}",
      1);
  CHECK(programs[0].stages[0].versions.size() == 100'000);
}

TEST_CASE("streamed retrieval: an update keeps a uniform share of the context, half of it in the mean") {
  const auto programs = programs_of(
      "{kind: streamed_retrieval, mode: update, question: {kind: fixed, value: 10}, context: {kind: fixed, value: "
      "1000}, chunks: {kind: fixed, value: 5}, first: {kind: fixed, value: 2 s}, gap: {kind: fixed, value: 1 s}, "
      "output: {kind: fixed, value: 1}}",
      500);
  double kept = 0;
  for (const Program& program : programs) {
    const auto& versions = program.stages[0].versions;
    REQUIRE(versions.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(tokens_of(versions[i].prompt) == 1010);
    for (std::size_t i = 1; i < 5; ++i)
      kept += static_cast<double>(common_prefix(versions[i].prompt, versions[i - 1].prompt) - 10) / 1000;
  }
  CHECK(kept / 2000 == approx(0.5).epsilon(0.04));  // 2,000 draws: standard error 1.3 %
}

TEST_CASE("each chat prompt is the prompt before, its answer and a new message after thinking") {
  const auto program =
      programs_of(
          "{kind: chat, system_prompt: 10, turns: {kind: fixed, value: 3}, message: {kind: fixed, value: "
          "20}, output: {kind: fixed, value: 40}, think: {kind: fixed, value: 7 s}}",
          1)
          .front();
  REQUIRE(program.stages.size() == 3);
  CHECK(tokens_of(program.stages[0].prompt) == 30);
  for (std::size_t i = 1; i < 3; ++i) {
    Prompt said = program.stages[i - 1].prompt;
    append(said, {program.stages[i - 1].output, 40});
    CHECK(starts_with(program.stages[i].prompt, said));
    CHECK(tokens_of(program.stages[i].prompt) == tokens_of(said) + 20);
    CHECK(program.stages[i].after == std::vector<int>{static_cast<int>(i) - 1});
    CHECK(program.stages[i].delay == Seconds(7));
  }
}

TEST_CASE("a conversation and a task end before they exceed the context") {
  // Prompt and answer of turn n: 60 n tokens.
  const auto chat = programs_of(
      "{kind: chat, context: 200, turns: {kind: fixed, value: 9}, message: {kind: fixed, value: 20}, "
      "output: {kind: fixed, value: 40}}",
      1);
  CHECK(chat.front().stages.size() == 3);
  // Prompt and answer of call n: 100 + 60 n - 20; after the third call there is no tool without a call.
  const auto agent = programs_of(
      "{kind: agents, context: 300, task: {kind: fixed, value: 100}, calls: {kind: fixed, value: 9}, "
      "output: {kind: fixed, value: 40}, tool_result: {kind: fixed, value: 20}}",
      1);
  CHECK(agent.front().stages.size() == 5);
  // Each of three sub-calls has 100 + 40 + 190 tokens and an answer of 40, the call behind them 100 + 40 + 120 and 40.
  const std::string fan =
      "task: {kind: fixed, value: 100}, calls: {kind: fixed, value: 2}, output: {kind: fixed, value: 40}, fan_out: "
      "{kind: fixed, value: 3}, fan_out_chance: 1, subtask: {kind: fixed, value: 190}}";
  CHECK(programs_of("{kind: agents, context: 370, " + fan, 1).front().stages.size() == 5);
  CHECK(programs_of("{kind: agents, context: 369, " + fan, 1).front().stages.size() == 1);
}

TEST_CASE("a searching question reads system prompt, passages and question in that order") {
  const auto programs = programs_of(
      "{kind: rag, system_prompt: 50, corpus: 3, popularity: 0, passage: {kind: fixed, value: 200}, "
      "passages: {kind: fixed, value: 3}, question: {kind: fixed, value: 8}, embedding: {kind: fixed, value: 5 ms}, "
      "retrieval: {kind: fixed, value: 30 ms}}",
      20);
  std::set<ContentId> corpus;
  for (const Program& program : programs) {
    REQUIRE(program.stages.size() == 3);
    CHECK(program.stages[0].service == Seconds(0.005));
    CHECK(program.stages[1].kind == Stage::Kind::retrieval);
    CHECK(program.stages[1].service == Seconds(0.03));
    CHECK(program.stages[2].after == std::vector<int>{1});
    const Prompt& prompt = program.stages[2].prompt;
    REQUIRE(prompt.size() == 5);
    CHECK(prompt[0].tokens == 50);
    CHECK(prompt[4].tokens == 8);
    const std::set<ContentId> passages{prompt[1].id, prompt[2].id, prompt[3].id};
    CHECK(passages.size() == 3);
    corpus.insert(passages.begin(), passages.end());
  }
  CHECK(corpus.size() == 3);
}

TEST_CASE("a question's own preamble keeps its passages from being shared") {
  const auto programs = programs_of("{kind: rag, system_prompt: 50, corpus: 1, preamble: {kind: fixed, value: 9}}", 2);
  CHECK(common_prefix(programs[0].stages[0].prompt, programs[1].stages[0].prompt) == 50);
  CHECK(programs[0].stages[0].prompt[1].tokens == 9);
}

TEST_CASE("passages are found by Zipf's law") {
  constexpr int kQuestions = 20'000;
  std::map<ContentId, int> found;
  for (const Program& program : programs_of(
           "{kind: rag, system_prompt: 0, corpus: 100, popularity: 1, passages: {kind: fixed, value: 1}}", kQuestions))
    ++found[program.stages[0].prompt[0].id];
  double harmonic = 0;
  for (int rank = 1; rank <= 100; ++rank) harmonic += 1.0 / rank;
  const ContentId most_popular = found.begin()->first;  // ids rise with rank
  for (const int rank : {1, 2, 10}) {
    const double expected = 1 / (rank * harmonic);
    const double share = static_cast<double>(found[most_popular + static_cast<ContentId>(rank) - 1]) / kQuestions;
    CHECK(std::abs(share - expected) < 4 * std::sqrt(expected * (1 - expected) / kQuestions));
  }
}

TEST_CASE("a question never holds a passage twice, even when it wants the whole corpus") {
  const auto program =
      programs_of("{kind: rag, corpus: 50, popularity: 3, passages: {kind: fixed, value: 80}}", 1).front();
  std::set<ContentId> ids;
  for (const Segment& segment : program.stages[0].prompt) ids.insert(segment.id);
  CHECK(ids.size() == 52);
}

TEST_CASE("a question that hosts search for is their query, and takes a time of theirs") {
  const auto program =
      programs_of("{kind: rag, search: hosts, question: {kind: fixed, value: 8}, passages: {kind: fixed, value: 0}}", 1)
          .front();
  REQUIRE(program.stages.size() == 2);
  CHECK(program.stages[0].kind == Stage::Kind::retrieval);
  CHECK(program.stages[0].query_tokens == 8);
  CHECK(program.stages[1].after == std::vector<int>{0});
  CHECK(program.stages[1].prompt.back().tokens == 8);
}

TEST_CASE("a workflow's search without a time has the input and what came before as its query") {
  const auto stages =
      programs_of(
          "{kind: workflow, input: {kind: fixed, value: 30}, stages: ["
          "{name: plan, output: {kind: fixed, value: 12}}, "
          "{name: both, kind: retrieval, after: [plan], output: {kind: fixed, value: 500}}, "
          "{name: plan only, kind: retrieval, input: false, after: [plan], output: {kind: fixed, value: 500}}, "
          "{name: nothing, kind: retrieval, input: false}]}",
          1)
          .front()
          .stages;
  CHECK(stages[1].query_tokens == 42);
  CHECK(stages[2].query_tokens == 12);
  CHECK(stages[3].query_tokens == 1);
}

TEST_CASE("a workflow's calls read their instructions, the input, and what the stages before them bring") {
  const auto programs = programs_of(kVote, 2);
  const auto& stages = programs[0].stages;
  REQUIRE(stages.size() == 4);
  CHECK(stages[0].prompt[1] == stages[1].prompt[1]);
  CHECK(common_prefix(stages[0].prompt, stages[1].prompt) == 0);
  CHECK(stages[2].kind == Stage::Kind::retrieval);
  CHECK(stages[2].service == Seconds(2));
  CHECK(stages[3].after == std::vector<int>{0, 1, 2});
  const Prompt& merged = stages[3].prompt;
  REQUIRE(merged.size() == 4);
  CHECK(merged[1] == Segment{stages[0].output, 100});
  CHECK(merged[2] == Segment{stages[1].output, 200});
  CHECK(tokens_of(merged) == 5 + 100 + 200 + 30);
  CHECK(common_prefix(stages[0].prompt, programs[1].stages[0].prompt) == 10);
}

TEST_CASE("a tool of a workflow may bring nothing, an answer has a token") {
  const auto stages = programs_of(
                          "{kind: workflow, input: {kind: fixed, value: 9}, stages: [{name: a, output: {kind: fixed, "
                          "value: 0}}, {name: t, kind: tool, after: [a], output: {kind: fixed, value: 0}, service: "
                          "{kind: fixed, value: 1 s}}, {name: b, after: [a, t], output: {kind: fixed, value: 3}}]}",
                          1)[0]
                          .stages;
  CHECK(stages[0].output_tokens == 1);
  CHECK(tokens_of(stages[2].prompt) == 9 + 1 + 0);
}

TEST_CASE("a workflow refuses stages that cannot run") {
  const auto mistakes = [](const std::string& stages) {
    Diagnostics diagnostics;
    CHECK_FALSE(
        streams().read(yaml("{kind: workflow, input: {kind: fixed, value: 9}, stages: " + stages + "}"), diagnostics));
    return diagnostics.text(false);
  };
  const std::string output = "output: {kind: fixed, value: 1}";
  CHECK(mistakes("[]").find("at least one stage") != std::string::npos);
  CHECK(mistakes("[{name: a, after: [a], " + output + "}]").find("no earlier stage") != std::string::npos);
  CHECK(mistakes("[{name: a, " + output + "}, {name: a, " + output + "}]").find("two stages") != std::string::npos);
  CHECK(mistakes("[{name: a}]").find("needs an 'output'") != std::string::npos);
  CHECK(mistakes("[{name: a, kind: tool}]").find("a tool needs a 'service' time") != std::string::npos);
}

}  // namespace llmscape::workloads
