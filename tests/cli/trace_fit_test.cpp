// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::trace_fit_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A call a second, of 100 to 199 tokens with answers of 10; two calls a session.
std::string trace(int calls) {
  std::string out;
  for (int i = 0; i < calls; ++i)
    out += "{\"arrival_s\": " + std::to_string(i) + ", \"prompt\": [[" + std::to_string(i + 1) + ", " +
           std::to_string(100 + i % 100) + "]], \"output_tokens\": 10, \"session\": \"" + std::to_string(i / 2) +
           "\"}\n";
  return out;
}

}  // namespace

TEST_CASE("trace fit: a workload that a scenario takes, a page, and the fit beside the trace") {
  const Scratch scratch;
  const std::string file = scratch.file("calls.jsonl", trace(400));
  const Ran ran = run_program(
      {"trace", "fit", file, "-o", scratch.path("mine.yaml"), "--page", scratch.path("fit.html"), "--score"});
  CHECK(ran.err == "");
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, "400 calls in 399 s, llmscape-jsonl"));
  CHECK(holds(ran.out, "the fit beside the whole trace"));
  CHECK(holds(ran.out, "a fit of the first half beside the second"));
  CHECK(holds(scratch.content("mine.yaml"), "schema: workload/1"));
  CHECK(holds(scratch.content("fit.html"), "<h2>A fit of the first half beside the second</h2>"));
  scratch.file("run.yaml",
               "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: l40s, count: 1}]}\nworkload: "
               "{preset: mine.yaml, requests: 20}\n");
  CHECK(run_program({"run", scratch.path("run.yaml")}).code == 0);
  const Ran printed = run_program({"trace", "fit", file, "-o", "-"});
  CHECK(printed.out == scratch.content("mine.yaml"));
}

TEST_CASE("trace fit: a rounded clock is said, also where the fit is printed") {
  const Scratch scratch;
  // Calls by chance, one a second in the mean, by a clock of 3 s.
  std::string calls;
  double at = 0;
  std::minstd_rand draws(7);
  for (int i = 0; i < 400; ++i, at -= std::log(std::generate_canonical<double, 32>(draws)))
    calls += "{\"arrival_s\": " + std::to_string(3 * static_cast<int>(at / 3)) +
             ", \"prompt_tokens\": 9, \"output_tokens\": 9}\n";
  const Ran ran = run_program({"trace", "fit", scratch.file("calls.jsonl", calls), "-o", "-"});
  CHECK(ran.code == 0);
  CHECK(holds(ran.err, "the times of calls.jsonl are rounded to 3 s: calls are spread over that time"));
  CHECK(ran.out.starts_with("schema: workload/1\n"));
}

TEST_CASE("trace fit: what cannot be fitted is said, and nothing is written") {
  const Scratch scratch;
  const std::string output = scratch.path("mine.yaml");
  const std::string one = scratch.file("one.jsonl", trace(1));
  const Ran alone = run_program({"trace", "fit", one, "-o", output});
  CHECK(alone.code == 2);
  CHECK(holds(alone.err, "one.jsonl has no two calls at different times"));
  const std::string plain = scratch.file("plain.csv",
                                         "TIMESTAMP,ContextTokens,GeneratedTokens\n2026-03-02 09:00:00,374,44\n"
                                         "2026-03-02 09:00:01,396,109\n2026-03-02 09:00:09,9,9\n");
  const Ran sessions = run_program({"trace", "fit", plain, "--sessions", "-o", output});
  CHECK(sessions.code == 2);
  CHECK(holds(sessions.err, "plain.csv has no two calls of one session"));
  const Ran passages = run_program({"trace", "fit", plain, "--passages", "-o", output});
  CHECK(passages.code == 2);
  CHECK(holds(passages.err, "plain.csv has no content that moves"));
  CHECK(run_program({"trace", "fit", plain, "--passages", "--sessions"}).code == 2);
  const std::string broken = scratch.file("broken.jsonl", trace(3) + "{\"arrival_s\": 9}\n");
  const Ran cut = run_program({"trace", "fit", broken, "-o", output});
  CHECK(cut.code == 2);
  CHECK(holds(cut.err, "broken.jsonl:4:"));
  CHECK_FALSE(std::filesystem::exists(output));
}

}  // namespace llmscape::test::trace_fit_test
