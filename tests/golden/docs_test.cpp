// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

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

std::string section(const std::vector<std::string>& verb) {
  std::string title = "llmscape";
  for (const std::string& word : verb) title += ' ' + word;
  std::vector<std::string> arguments = verb;
  arguments.emplace_back("--help");
  return (verb.empty() ? "" : "\n## " + title + "\n\n") + "```\n" + printed(arguments) + "```\n";
}

}  // namespace

TEST_CASE("docs/cli.md holds what --help prints, for every verb") {
  std::string text;
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{{},
                                                                                    {"run"},
                                                                                    {"sweep"},
                                                                                    {"lint"},
                                                                                    {"show"},
                                                                                    {"list"},
                                                                                    {"schema"},
                                                                                    {"trace"},
                                                                                    {"trace", "describe"},
                                                                                    {"trace", "convert"},
                                                                                    {"trace", "slice"},
                                                                                    {"import"},
                                                                                    {"import", "vllm"},
                                                                                    {"compare"},
                                                                                    {"validate"},
                                                                                    {"bench"},
                                                                                    {"calibrate"},
                                                                                    {"accuracy"},
                                                                                    {"engine"},
                                                                                    {"report"},
                                                                                    {"completion"}})
    text += section(verb);
  check_golden_part("docs/cli.md", "help", text);
}

TEST_CASE("README.md shows what ./dev demo prints") {
  check_golden_part("README.md", "demo",
                    "```\n$ ./dev demo\n" + printed({"run", "examples/chat-h100/scenario.yaml"}) + "```\n");
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
