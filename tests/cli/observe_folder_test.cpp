// SPDX-License-Identifier: Apache-2.0
// What `observe -o` keeps, and what of scrapes comes through to limits.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::observe_folder_test {
namespace {

const std::string kFixtures = "tests/unit/observe/fixtures/";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("observe: a scenario's trace is found from any folder, and stays where it is replayed") {
  const Scratch scratch;
  const std::string seen = scratch.path("seen");
  REQUIRE(run_program(
              {"observe", kFixtures + "vllm.log", kFixtures + "vllm_bench.json", "--device", "h100-sxm", "-o", seen})
              .code == 0);
  const std::string trace = scratch.content("seen/trace.jsonl");
  // Figures alone: the scenario's own workload is what is replayed, five requests as before.
  const std::string figures = scratch.file("figures.json", R"({"backend": "vllm", "mean_ttft_ms": 40.0})");
  for (const std::string& folder : {std::string(), scratch.path("new/folder"), seen}) {
    CAPTURE(folder);
    std::vector<std::string> call = {"observe", figures, "--scenario", seen + "/scenario.yaml"};
    if (!folder.empty()) call.insert(call.end(), {"-o", folder});
    const Ran ran = run_program(call);
    CHECK(ran.err == "");
    CHECK(ran.code == 0);
    CHECK(holds(ran.out, "ttft"));
    CHECK(scratch.content("seen/trace.jsonl") == trace);
    if (!folder.empty()) CHECK(run_program({"lint", folder + "/scenario.yaml"}).code == 0);
  }
  // A call that fails leaves the folder as it was, and makes none.
  for (const std::string& folder : {seen, scratch.path("newer/folder")}) {
    CHECK(run_program({"observe", kFixtures + "vllm.log", kFixtures + "vllm_bench.json", "--device", "h100-sxm", "-o",
                       folder, "--set", "serving.max_num_seqs=7"})
              .code == 2);
    CHECK(scratch.content("seen/trace.jsonl") == trace);
  }
  CHECK_FALSE(std::filesystem::exists(scratch.path("newer")));
  CHECK_FALSE(std::filesystem::exists(seen + "/trace.jsonl.before"));
}

// 100 calls, all of which had their first token within 20 ms and 1 s: the median is somewhere in there.
TEST_CASE("observe and check: a quantile of a histogram is as far off as the nearest end of its bucket") {
  const Scratch scratch;
  const std::string scenario =
      scratch.file("s.yaml",
                   "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}]}\n"
                   "workload: {requests: 20, arrivals: {kind: periodic, rate: 1 /s}, stream: {kind: lengths, prompt: "
                   "{kind: fixed, value: 2000}, output: {kind: fixed, value: 10}}}\n");
  const auto code = [&](const std::string& from, const std::string& to, const std::string& limit) {
    const std::string name = "vllm:time_to_first_token_seconds";
    const std::string scrape =
        scratch.file("x.prom", "# TYPE " + name + " histogram\n" + name + "_bucket{le=\"" + from + "\"} 0\n" + name +
                                   "_bucket{le=\"" + to + "\"} 100\n" + name + "_bucket{le=\"+Inf\"} 100\n" + name +
                                   "_sum 5\n" + name + "_count 100\n");
    return run_program({"observe", scrape, "--scenario", scenario, "--max-error", "ttft.p50=" + limit, "-o",
                        scratch.path("seen"), "--json", scratch.path("error.json")});
  };
  const Ran wide = code("0.02", "1.0", "0%");
  CHECK(wide.code == 0);  // some 60 ms, where the middle of the bucket is 510 ms
  CHECK(holds(wide.out, "0.02 - 1: one bucket"));
  CHECK(holds(wide.out, "0.02 - 1 s: one bucket"));
  const auto seen = nlohmann::json::parse(scratch.content("seen/observed.json"));
  CHECK(seen["within"]["ttft_s.p50"] == nlohmann::json({0.02, 1.0}));
  const auto errors = nlohmann::json::parse(scratch.content("error.json"));
  REQUIRE(run_program({"run", scenario, "-o", scratch.path("run")}).code == 0);
  const auto check = [&](const char* limit) {
    return run_program({"check", scratch.path("run"), "--against", scratch.path("seen/observed.json"), "--max-error",
                        std::string("ttft.p50=") + limit})
        .code;
  };
  CHECK(check("0%") == 0);
  double predicted = 0;
  for (const auto& each : errors["comparisons"])
    if (each["metric"] == "ttft.p50") predicted = each["statistics"]["mean"]["predicted"];
  REQUIRE(predicted > 0.02);
  REQUIRE(predicted < 0.4);
  // From 400 ms on the nearest end is that: 1 - predicted / 0.4, to be within a point of a hundred of.
  const double off = 100 * (1 - predicted / 0.4);
  CHECK(code("0.4", "1.0", std::to_string(off + 1) + "%").code == 0);
  CHECK(code("0.4", "1.0", std::to_string(off - 1) + "%").code == 1);
  CHECK(check("0%") == 1);
}

}  // namespace llmscape::test::observe_folder_test
