// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/cli/shell.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test {
namespace {

using Words = std::set<std::string>;

Words lines_of(const std::string& text) {
  Words out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) out.insert(line);
  return out;
}

bool is_there(const std::string& program) { return shell("command -v " + program).code == 0; }

// What bash offers when `words` were typed, the last one perhaps in part.
Words offered(const Scratch& scratch, const std::string& words, int count) {
  scratch.file("completion.bash", run_program({"completion", "bash"}).out);
  return lines_of(shell("cd " + scratch.path("") + " && bash -c 'source completion.bash; COMP_WORDS=(" + words +
                        "); COMP_CWORD=" + std::to_string(count - 1) +
                        "; _llmscape; printf \"%s\\n\" \"${COMPREPLY[@]}\"'")
                      .out);
}

}  // namespace

TEST_CASE("both scripts are scripts of their shell") {
  const Scratch scratch;
  for (const std::string name : {"bash", "zsh"}) {
    if (!is_there(name)) {
      MESSAGE("skipped: there is no " << name);
      continue;
    }
    const std::string script = scratch.file(name, run_program({"completion", name}).out);
    CHECK(shell(name + " -n " + script + " 2>&1").out == "");
  }
}

TEST_CASE("bash completes verbs, options, their values and files") {
  const Scratch scratch;
  scratch.file("comparison.yaml", "");
  scratch.file("complete results/run.json", "");
  CHECK(offered(scratch, "llmscape co", 2) == Words{"compare", "completion"});
  CHECK(offered(scratch, "llmscape --v", 2) == Words{"--version"});
  CHECK(offered(scratch, "llmscape run --re", 3) == Words{"--requests"});
  CHECK(offered(scratch, "llmscape run --format v", 4) == Words{"vllm-json"});
  CHECK(offered(scratch, "llmscape run --seed \"\"", 4).empty());
  CHECK(offered(scratch, "llmscape run -o c", 4) == Words{"complete results"});
  CHECK(offered(scratch, "llmscape list b", 3) == Words{"batchers"});
  CHECK(offered(scratch, "llmscape show h", 3) == Words{"hardware/", "hosts/"});
  CHECK(offered(scratch, "llmscape trace s", 3) == Words{"slice"});
  CHECK(offered(scratch, "llmscape trace slice --fr", 4) == Words{"--from"});
  CHECK(offered(scratch, "llmscape lint compa", 3) == Words{"comparison.yaml"});
}

TEST_CASE("zsh reads its script") {
  if (!is_there("zsh")) {
    MESSAGE("skipped: there is no zsh");
    return;
  }
  const Scratch scratch;
  const std::string script = scratch.file("site/_llmscape", run_program({"completion", "zsh"}).out);
  CHECK(scratch.content("site/_llmscape").starts_with("#compdef llmscape\n"));
  CHECK(shell("zsh -n " + script + " 2>&1").out.empty());
}

TEST_CASE("both scripts know every verb and every long option that docs/cli.md knows") {
  std::ifstream page("docs/cli.md");
  const std::string help{std::istreambuf_iterator<char>(page), {}};
  const std::regex names("\n(?:## llmscape |  |  -[a-z],)(--[a-z-]+|[a-z ]+)(?:\n| )");
  for (const char* shell_name : {"bash", "zsh"}) {
    const std::string script = run_program({"completion", shell_name}).out;
    int count = 0;
    for (std::sregex_iterator it(help.begin(), help.end(), names), end; it != end; ++it) {
      const std::string name = (*it)[1];
      if (!name.starts_with("--") && !help.substr(static_cast<std::size_t>(it->position())).starts_with("\n## "))
        continue;
      ++count;
      const std::string last = name.substr(name.rfind(' ') + 1);
      CHECK_MESSAGE(std::regex_search(script, std::regex(last + "\\b")), name);
    }
    CHECK(count > 50);
  }
}

}  // namespace llmscape::test
