// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/cli/shell.hpp"
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
  for (const std::string& verb_below : verbs_of(text)) {
    std::vector<std::string> below = verb;
    below.push_back(verb_below);
    all += sections(below);
  }
  return all;
}

// A page shows the command, and below it what a shell prints, which writes below `out` of a folder of its own.
void check_answer(const std::string& page, const std::string& name, const std::string& command) {
  const llmscape::test::Scratch scratch;
  const std::string out = scratch.path("") + "out/";
  std::string there = command;
  for (std::size_t at = there.find("out/"); at != std::string::npos; at = there.find("out/", at + out.size()))
    there.replace(at, 4, out);
  const std::string program = LLMSCAPE_PROGRAM;
  const auto ran = llmscape::test::shell("export NO_COLOR=1 COLUMNS=100 PATH=" + program.substr(0, program.rfind('/')) +
                                         ":$PATH; ( " + there + " ) 2>/dev/null");
  CAPTURE(command);
  CHECK(ran.code == 0);
  check_golden_part(page, name, "```console\n$ " + command + "\n" + ran.out + "```\n");
}

}  // namespace

TEST_CASE("docs/questions.md shows what its commands answer") {
  const std::string page = "docs/questions.md", files = "examples/questions/";
  const auto swept = [&files](const std::string& plan, const std::string& question) {
    return "llmscape sweep " + files + plan + ".yaml -q -o out/" + plan + " > /dev/null && llmscape pareto out/" +
           plan + ' ' + question;
  };
  check_answer(page, "cheapest",
               swept("cheapest-70b", "--group hardware --label hardware,users | sed -n '1,/^$/p;/^group /,/^$/p'"));
  check_answer(page, "replicas",
               "llmscape search examples/chat-h100/scenario.yaml --min 'hardware.devices[0].count' --slo "
               "'ttft.p99<=200ms,tpot.p99<=20ms' --set workload.arrivals.rate='50 /s' | sed '/^$/,$d'");
  check_answer(page, "nvlink",
               "llmscape sensitivity " + files +
                   "half-nvlink.yaml -q --only links.bandwidth --change 50% --metrics "
                   "ttft.mean,tpot.mean");
  check_answer(page, "cap", swept("power-cap", "--group power_limit | sed -n '/^group /,/^$/p'"));
  check_answer(page, "chip", "llmscape run " + files + "own-chip.yaml");
}

TEST_CASE("pages of examples show what their commands answer") {
  const std::string points = " | sed -n '/point  /,/^$/p'";
  check_answer("examples/edge-cim/README.md", "dram",
               "llmscape sweep examples/edge-cim/scenario.yaml --axis "
               "'hardware.devices[0].dram.preset=lpddr5,lpddr5x,hbm2e,hbm3' -q -o out/dram > /dev/null && llmscape "
               "pareto out/dram --max output_tokens_per_joule --min tpot.mean" +
                   points);
  check_answer("examples/closed-loop-dataflow/README.md", "waiting",
               "llmscape run examples/closed-loop-dataflow/scenario.yaml | grep -E '^(energy|in use)'");
  check_answer("examples/hybrid-states/README.md", "attention",
               "llmscape run examples/hybrid-states/scenario.yaml --set model.preset=qwen3-30b-a3b | sed -n "
               "'1,3p;/^throughput/,/^KV cache/p'");
  check_answer("examples/kv-tiers/README.md", "tiers",
               "llmscape sweep examples/kv-tiers/tiers.yaml -q -o out/tiers > /dev/null && llmscape pareto out/tiers "
               "--group tiers --label tiers" +
                   points);
  check_answer("examples/fat-tree/README.md", "network",
               "llmscape sweep examples/fat-tree/topologies.yaml -q -o out/topologies > /dev/null && llmscape pareto "
               "out/topologies --group network --label network" +
                   points);
}

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
