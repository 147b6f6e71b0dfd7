// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/cli/shell.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test {
namespace {

// What the script offers when `words` were typed, the last one perhaps in part.
std::set<std::string> offered(const Scratch& scratch, const std::string& words, int count) {
  const std::string script = scratch.file("completion.bash", run_program({"completion", "bash"}).out);
  const Shell ran =
      shell("cd " + scratch.path("") + " && bash -c 'source completion.bash; COMP_WORDS=(" + words +
            "); COMP_CWORD=" + std::to_string(count - 1) + "; _llmscape; printf \"%s\\n\" \"${COMPREPLY[@]}\"'");
  std::set<std::string> out;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) out.insert(line);
  return out;
}

}  // namespace

TEST_CASE("both scripts are scripts") {
  const Scratch scratch;
  for (const char* name : {"bash", "zsh"}) {
    const std::string script = scratch.file(name, run_program({"completion", name}).out);
    CHECK(shell("bash -n " + script + " 2>&1").out.empty());
  }
}

TEST_CASE("bash completes verbs, options and their values") {
  const Scratch scratch;
  CHECK(offered(scratch, "llmscape co", 2) == std::set<std::string>{"compare", "completion"});
  CHECK(offered(scratch, "llmscape run --re", 3) == std::set<std::string>{"--requests"});
  CHECK(offered(scratch, "llmscape run --format v", 4) == std::set<std::string>{"vllm-json"});
  CHECK(offered(scratch, "llmscape list b", 3) == std::set<std::string>{"batchers"});
  CHECK(offered(scratch, "llmscape trace s", 3) == std::set<std::string>{"slice"});
  CHECK(offered(scratch, "llmscape lint comp", 3) == std::set<std::string>{"completion.bash"});
}

TEST_CASE("the script knows every verb and every long option that --help knows") {
  const std::string script = run_program({"completion", "bash"}).out;
  const std::regex verb("\n  ([a-z]+) {10,}"), option("\n  (?:-[a-z],)?(--[a-z-]+)");
  const auto check_all = [&script](const std::string& text, const std::regex& pattern, int group) {
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
      const std::string word = (*it)[static_cast<std::size_t>(group)];
      CHECK_MESSAGE(std::regex_search(script, std::regex(word + "\\b")), word);
    }
  };
  check_all(run_program({"--help"}).out, verb, 1);
  for (const char* name :
       {"run", "lint", "show", "list", "schema", "trace", "import", "compare", "engine", "validate", "completion"}) {
    check_all(run_program({name, "--help"}).out, option, 1);
  }
  for (const char* deed : {"describe", "convert", "slice"})
    check_all(run_program({"trace", deed, "--help"}).out, option, 1);
  check_all(run_program({"import", "vllm", "--help"}).out, option, 1);
}

}  // namespace llmscape::test
