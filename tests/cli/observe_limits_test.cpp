// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::observe_limits_test {
namespace {

const std::string kFixtures = "tests/unit/observe/fixtures/";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("observe and check: a prediction that served a part, or is saturated, meets no limit and says so") {
  const Scratch scratch;
  const std::string seen = scratch.path("seen");
  const std::vector<std::string> files = {"observe", kFixtures + "vllm.log", kFixtures + "vllm_bench.json", "--device",
                                          "h100-sxm"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> call = files;
    call.insert(call.end(), more.begin(), more.end());
    return run_program(call);
  };
  const Ran noisy = with({"--max-error", "tpot.mean=50%", "-o", seen, "--junit", scratch.path("o.xml")});
  CHECK(noisy.code == 0);
  CHECK(holds(noisy.out, "verdict of the prediction: noisy: 5 completed requests are too few"));
  CHECK(holds(scratch.content("o.xml"), "<testsuites name=\"llmscape observe\""));
  CHECK(holds(scratch.content("o.xml"), "name=\"verdict\" value=\"noisy: "));
  // Calls of 500 + 41 tokens do not fit, the one of 500 + 36 does.
  const std::vector<std::string> part = {"--set", "serving.max_model_len=540", "--max-error", "tpot.mean=50%"};
  const Ran refused = with(part);
  CHECK(refused.code == 1);
  CHECK_MESSAGE(holds(refused.out, "4 of 5 requests were not served by the simulation"), refused.out);

  REQUIRE(run_program({"run", seen + "/scenario.yaml", "-o", scratch.path("run"), "-q"}).code == 0);
  const auto check = [&](const std::vector<std::string>& more) {
    std::vector<std::string> call = {"check",       scratch.path("run"), "--against", seen + "/observed.json",
                                     "--max-error", "tpot.mean=50%",     "--junit",   scratch.path("c.xml")};
    call.insert(call.end(), more.begin(), more.end());
    return run_program(call);
  };
  CHECK(check({}).code == 0);
  CHECK(holds(scratch.content("c.xml"), "<testsuites name=\"llmscape check\""));
  for (const std::vector<std::string>& without_effect :
       std::vector<std::vector<std::string>>{{"-q"}, {"--update"}, {"--metrics", "tpot"}})
    CHECK(check(without_effect).code == 2);
  auto run = nlohmann::json::parse(scratch.content("run/run.json"));
  run["verdict"] = {{"state", "saturated"}, {"reasons", {"too much came"}}};
  scratch.file("run/run.json", run.dump());
  const Ran saturated = check({});
  CHECK(saturated.code == 1);
  CHECK(holds(saturated.out, "verdict of the prediction: saturated: too much came"));
  CHECK(holds(saturated.out, "but the prediction is saturated"));
  CHECK(check({"--include-invalid"}).code == 0);
}

// Two slots of an H100 take 0.7 s for 100 tokens of an answer: of three calls a second they serve 2.9, and what waits
// or is served for 2 s is given up: 12 of 100. Without those the others would wait 0.11 s for the first token, not
// 0.29.
constexpr const char* kBusy =
    "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}]}\n"
    "serving: {batcher: {policy: vllm_v1, max_num_seqs: 2}}\nwindow: {rule: whole}\n"
    "workload: {arrivals: {kind: poisson, rate: 3 /s}, requests: 100, timeout: 2 s, stream: {kind: lengths, "
    "prompt: {kind: fixed, value: 100}, output: {kind: geometric, mean: 100}}}\n";

TEST_CASE("observe: what clients gave up is in the replay until then, and what failed spoils it") {
  const Scratch scratch;
  const std::string scenario = scratch.file("busy.yaml", kBusy), requests = scratch.path("out/requests.jsonl");
  REQUIRE(run_program({"run", scenario, "-o", scratch.path("out"), "--requests", "-q"}).code == 0);
  const std::string records = scratch.content("out/requests.jsonl");
  CHECK(holds(records, "timed_out"));
  const auto observed = [&](const std::vector<std::string>& more) {
    std::vector<std::string> call = {"observe", requests, "--scenario", scenario, "--max-error", "ttft.mean=2%"};
    call.insert(call.end(), more.begin(), more.end());
    return run_program(call);
  };
  // The same server has no error at all, in the figures of those that were answered too.
  const Ran seen = observed({"--max-error", "output_tokens_per_s.mean=0.1%", "--max-error", "requests_per_s.mean=0.1%",
                             "--include-invalid", "-o", scratch.path("seen")});
  CHECK_MESSAGE(seen.code == 0, seen.out);
  // Nor has a run of what it keeps: none of the 12 is answered.
  REQUIRE(run_program({"run", scratch.path("seen/scenario.yaml"), "-o", scratch.path("again"), "-q"}).code == 0);
  CHECK(nlohmann::json::parse(scratch.content("again/run.json"))["requests"]["cancelled"] == 12);
  const Ran held = run_program({"check", scratch.path("again"), "--against", scratch.path("seen/observed.json"),
                                "--include-invalid", "--max-error", "ttft.mean=0.1%", "--max-error", "e2e.mean=0.1%",
                                "--max-error", "output_tokens_per_s.mean=1%"});
  CHECK_MESSAGE(held.code == 0, held.out);
  CHECK_MESSAGE(holds(seen.out, "12 of 100 requests were given up by their clients"), seen.out);

  // The same calls, of which nothing says when they ended.
  std::string failed = records;
  for (std::size_t at = 0; (at = failed.find("timed_out", at)) != std::string::npos;)
    failed.replace(at, 9, "http_500_");
  scratch.file("out/requests.jsonl", failed);
  const Ran refused = observed({});
  CHECK(refused.code == 1);
  CHECK_MESSAGE(holds(refused.out, "requests are not in the simulation: what was measured had more to do"),
                refused.out);
  const Ran fit = observed({"--fit-host"});
  CHECK(fit.code == 2);
  CHECK_MESSAGE(holds(fit.err, "of the requests that the server had are not in the replay"), fit.err);
}

TEST_CASE("observe: limits are printed where nothing could be compared") {
  const Ran ran =
      run_program({"observe", kFixtures + "vllm.log", "--device", "h100-sxm", "--max-error", "tpot.mean=5%"});
  CHECK(ran.code == 1);
  CHECK_MESSAGE(holds(ran.out, "tpot.mean=5%  not compared  NO"), ran.out);
}

TEST_CASE("observe and check: more devices than the scenario has, or fewer calls than were observed, meet no limit") {
  const Scratch scratch;
  const std::string scenario = scratch.file("busy.yaml", kBusy);
  const std::string few = scratch.path("few"), many = scratch.path("many");
  const auto run = [&](const std::string& out, const char* requests) {
    return run_program(
               {"run", scenario, "--set", "workload.timeout=1000 s", "--set", requests, "--requests", "-q", "-o", out})
        .code;
  };
  REQUIRE(run(few, "workload.requests=60") == 0);
  REQUIRE(run(many, "workload.requests=240") == 0);
  std::string power = "timestamp, index, power.draw [W]\n";
  for (const char* second : {"00", "01", "02"})
    for (const char* device : {"0", "1"})
      power += "2026/05/12 09:01:" + std::string(second) + ".000, " + device + ", 300 W\n";
  const std::string two = scratch.file("p.csv", power);
  const auto observed = [&](const std::vector<std::string>& more) {
    std::vector<std::string> call = {
        "observe",     many + "/requests.jsonl", two,  "--scenario",         scenario,
        "--max-error", "tpot.mean=1%",           "-o", scratch.path("seen"), "--overwrite"};
    call.insert(call.end(), more.begin(), more.end());
    return run_program(call);
  };
  const Ran both = observed({});
  CHECK(both.code == 1);
  CHECK_MESSAGE(holds(both.out, "but the power of 2 devices was read (--gpus takes some of them), and 1 are in"),
                both.out);
  observed({"--gpus", "0"});
  const auto check = [&](const std::string& of) {
    return run_program({"check", of, "--against", scratch.path("seen/observed.json"), "--max-error", "tpot.mean=99%"});
  };
  const Ran part = check(few);
  CHECK(part.code == 1);
  CHECK_MESSAGE(holds(part.out, "180 of 240 requests are not in"), part.out);
}

}  // namespace llmscape::test::observe_limits_test
