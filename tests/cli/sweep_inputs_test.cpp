// SPDX-License-Identifier: Apache-2.0
// Sweeps that go on: which points are good still, and which folder is which plan's.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace sweep_inputs_test {

namespace fs = std::filesystem;
using namespace llmscape::test;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// results.csv after going on with the scenario, or the plan, in "out".
std::string resumed(const Scratch& scratch, const std::string& plan) {
  const Ran ran = run_program({"sweep", "-q", plan, "-o", scratch.path("out"), "--resume", "-j1"});
  CAPTURE(ran.out + ran.err);
  REQUIRE(ran.code == 0);
  return scratch.content("out/results.csv");
}

}  // namespace

// A replay of prompts whose parts have their lengths in tables beside the trace, of which the scenario names none.
TEST_CASE("is a finished point good when a table beside its trace has changed?") {
  const Scratch scratch;
  std::string trace;
  for (int i = 0; i < 8; ++i)
    trace += R"({"timestamp": ")" + std::to_string(i) +
             R"(", "input_length": 900, "output_length": 8, "hash_ids": {"sys_prompt": [1], "passages_ids": [2], )"
             R"("history": [3], "web_search": [4], "user_input": [5]}, "session_id": "s"})"
             "\n";
  scratch.file("week.jsonl", trace);
  const auto table = [&](const std::string& name, const std::string& id, int number, int tokens) {
    scratch.file(name + ".jsonl", "{\"" + id + "\": " + std::to_string(number) +
                                      ", \"token_length\": " + std::to_string(tokens) + "}\n");
  };
  table("sys_prompt", "sys_prompt_id", 1, 16);
  table("passages", "passage_id", 2, 16);
  table("history", "history_id", 3, 16);
  table("web_search", "web_search_id", 4, 16);
  table("user_input", "user_input_id", 5, 16);
  const std::string scenario = scratch.file("s.yaml", small_scenario("{replay: {trace: week.jsonl}}"));
  const std::string out = scratch.path("out");
  const std::string first = resumed(scratch, scenario);
  const auto point = fs::directory_iterator(out + "/points")->path();
  CHECK(holds(scratch.content("out/points/" + point.filename().string()), "\"inputs\": {\"history.jsonl\":\""));
  const auto written = fs::last_write_time(point);
  CHECK(resumed(scratch, scenario) == first);
  CHECK(fs::last_write_time(point) == written);  // it did not run again
  // 800 tokens of the prompt are shared now instead of 16: all calls but the first find them computed.
  table("sys_prompt", "sys_prompt_id", 1, 800);
  CHECK(holds(run_program({"sweep", "--merge", out}).out, "0 points, 1 not run yet"));
  CHECK(resumed(scratch, scenario) != first);
}

// Model Optimizer's checkpoints say their formats in a file beside config.json. 1.54 G weights of 16 bits are 3.1 GB
// for each token of a single call, of 8 bits a little above half of it: layers are fp8, the head is not.
TEST_CASE("is a finished point good when a file has come beside its model that was not there?") {
  const Scratch scratch;
  std::string error;
  scratch.file("config.json", *llmscape::read_file("models/catalog/qwen2.5-1.5b.json", error));
  std::string text = small_scenario();
  text.replace(text.find("qwen2.5-1.5b"), std::string("qwen2.5-1.5b").size(), "{hf_config: config.json}");
  const std::string scenario = scratch.file("s.yaml", text);
  const std::string first = resumed(scratch, scenario);
  const auto point = fs::directory_iterator(scratch.path("out/points"))->path();
  CHECK(holds(scratch.content("out/points/" + point.filename().string()), R"("inputs": {"hf_quant_config.json":""})"));
  const auto written = fs::last_write_time(point);
  CHECK(resumed(scratch, scenario) == first);
  CHECK(fs::last_write_time(point) == written);  // it did not run again
  scratch.file("hf_quant_config.json", R"({"quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}})");
  CHECK(holds(run_program({"sweep", "--merge", scratch.path("out")}).out, "0 points, 1 not run yet"));
  CHECK(resumed(scratch, scenario) != first);
}

// As a recipe for a cluster calls it that has one worker.
TEST_CASE("does a plan in one part go on when it is called again? as one of several does") {
  const Scratch scratch;
  const std::string plan = scratch.file("s.yaml", small_scenario());
  for (const char* counts : {"1 ran", "1 known"}) {
    const Ran ran = run_program({"sweep", "-q", plan, "-o", scratch.path("out"), "--shard", "1/1"});
    CAPTURE(counts);
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    CHECK(holds(ran.out, "results.csv: 1 points"));
  }
}

TEST_CASE("is a sweep that was moved still that of its plan? its points stay, and plan.yaml follows") {
  const Scratch scratch;
  const std::string plan = scratch.file("s.yaml", small_scenario());
  const std::string first = resumed(scratch, plan);
  const std::string point = fs::directory_iterator(scratch.path("out/points"))->path().filename();
  fs::create_directories(scratch.path("deeper"));
  fs::rename(scratch.path("out"), scratch.path("deeper/out"));
  const auto written = fs::last_write_time(scratch.path("deeper/out/points/" + point));
  const Ran again = run_program({"sweep", "-q", plan, "-o", scratch.path("deeper/out"), "--resume"});
  CHECK_MESSAGE(again.code == 0, again.err);
  CHECK(fs::last_write_time(scratch.path("deeper/out/points/" + point)) == written);
  CHECK(scratch.content("deeper/out/results.csv") == first);
  CHECK(holds(scratch.content("deeper/out/plan.yaml"), "\nfolder: ../..\n"));
  CHECK(run_program({"sweep", "-q", "-o", scratch.path("deeper/out"), "--resume"}).code == 0);
  const Ran other = run_program({"sweep", "-q", plan, "--set", "seed=8", "-o", scratch.path("deeper/out"), "--resume"});
  CHECK(holds(other.err, "holds the sweep of another plan"));
}

}  // namespace sweep_inputs_test
