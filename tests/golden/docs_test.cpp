// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/golden/golden_file.hpp"
#include "tests/support/run_program.hpp"

namespace {

using llmscape::test::check_golden_part;
using llmscape::test::Ran;
using llmscape::test::run_program;

std::string printed(const std::vector<std::string>& arguments) {
  const Ran ran = run_program(arguments);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return ran.out;
}

std::string help(std::vector<std::string> verb) {
  verb.emplace_back("--help");
  return printed(verb);
}

// The verbs that a help text lists: "  run      Run a scenario and ...", below "Subcommands:".
std::vector<std::string> verbs_of(const std::string& help_text) {
  std::vector<std::string> verbs;
  std::istringstream lines(help_text);
  bool listed = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) listed = false;
    if (listed && line[2] != ' ') verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
    if (line == "Subcommands:") listed = true;
  }
  return verbs;
}

// The help of a verb, and of all verbs below it.
std::string sections(const std::vector<std::string>& verb) {
  std::string title = "llmscape";
  for (const std::string& word : verb) title += ' ' + word;
  const std::string text = help(verb);
  std::string all = (verb.empty() ? "" : "\n## " + title + "\n\n") + "```\n" + text + "```\n";
  for (const std::string& deed : verbs_of(text)) {
    std::vector<std::string> below = verb;
    below.push_back(deed);
    all += sections(below);
  }
  return all;
}

}  // namespace

TEST_CASE("docs/cli.md holds what --help prints, for every verb") {
  check_golden_part("docs/cli.md", "help", sections({}));
}

TEST_CASE("README.md shows what a run prints") {
  check_golden_part("README.md", "run",
                    "```console\n$ llmscape run examples/chat-h100/scenario.yaml\n" +
                        printed({"run", "examples/chat-h100/scenario.yaml"}) + "```\n");
}

TEST_CASE("docs/metrics.md holds the vocabulary") {
  check_golden_part("docs/metrics.md", "vocabulary", printed({"list", "metrics", "--format", "markdown"}));
}

TEST_CASE("docs/scenario.md holds the fields of a scenario") {
  std::string text;
  for (const char* name : {"scenario", "model", "serving", "cold_start", "controller", "faults", "fault", "mtbf",
                           "admission", "workload", "mixture", "replay", "slo", "slo_class"})
    text += "```\n" + printed({"show", "fields", name}) + "```\n\n";
  check_golden_part("docs/scenario.md", "fields", text);
}
