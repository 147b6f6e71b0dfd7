// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/cli/shell.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::pipes_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr const char* kTrace =
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2023-11-16 18:15:00.0000000,100,10\n"
    "2023-11-16 18:15:01.0000000,200,20\n";

}  // namespace

TEST_CASE("lint, show and trace read what comes through a pipe, which has no name that tells what it is") {
  const Scratch scratch;
  const std::string trace = scratch.file("azure.csv", kTrace);
  const auto piped = [](const std::string& verb, const std::string& file) {
    return shell(fmt::format("timeout 60 bash -c '{} {} <(cat {}) 2>&1'", LLMSCAPE_PROGRAM, verb, file));
  };
  const Shell scenario = piped("lint", "examples/chat-h100/scenario.yaml");
  CHECK(scenario.code == 0);
  CHECK(holds(scenario.out, ": a scenario without mistakes\n"));
  const Shell shown = piped("show", "examples/chat-h100/scenario.yaml");
  CHECK(shown.code == 0);
  CHECK(shown.out.starts_with("schema: scenario/1\n"));
  CHECK(holds(piped("lint", trace).out, ": a trace without mistakes\n"));
  const Shell described = piped("trace describe", trace);
  CHECK(described.code == 0);
  CHECK(described.out == run_program({"trace", "describe", trace}).out);
}

}  // namespace llmscape::test::pipes_test
