// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/run_program.hpp"

using llmscape::testing::approx;

namespace llmscape::test::calibrate_steps_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kRecord = "traces/measured/epyc-zen4-vm-2026-11-21-engine/medium.json.gz";

// A processor that streams weights and does nothing else: 2 x 1.24 billion bytes at 1 GB/s take some 2.5 s.
constexpr const char* kRoofline =
    "schema: device/1\nkind: roofline\nname: box\naccuracy: of a test\npeak_bf16: 100 Tflop/s\nmemory_bandwidth: 1 "
    "GB/s\n"
    "memory_capacity: 64 GB\ncompute_efficiency: 1\nattention_efficiency: 1\nmemory_efficiency: 1\n"
    "per_operator: 0 us\nper_step: 100 ms\nper_request: 0 us\ntdp: 100 W\nidle_power: 10 W\n"
    "compute_energy: 1 pJ/flop\nmemory_energy: 5 pJ/bit\n";

std::string scenario(const std::string& device, const std::string& model = "llama-3.2-1b",
                     const std::string& serving = "{batcher: {policy: vllm_v1, async_scheduling: false}}") {
  return fmt::format(
      "schema: scenario/1\nmodel: {}\nhardware: {{devices: [{{preset: {}, count: 1}}]}}\nserving: {}\n"
      "workload: {{arrivals: {{kind: periodic, rate: 0.005 /s}}, requests: 10, stream: {{kind: lengths, prompt: "
      "{{kind: fixed, value: 1000}}, output: {{kind: fixed, value: 20}}}}}}\nseed: 1\n",
      model, device, serving);
}

// Steps of 1 to 60 decodes at a context of 1,000, all of `seconds`.
std::string table(double seconds) {
  std::string csv = "prompt_tokens,decodes,context,step_s\n";
  for (int decodes = 1; decodes <= 60; ++decodes) csv += fmt::format("0,{},{},{}\n", decodes, 1000 * decodes, seconds);
  return csv;
}

}  // namespace

TEST_CASE("steps of the mini engine become a device that prices them better than the one that they correct") {
  const Scratch scratch;
  const std::string device = scratch.path("my-cpu.yaml");
  const Ran ran = run_program({"calibrate", "--steps", kRecord, "--base", "cpu-epyc-vm", "-o", device});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(holds(ran.out, "267 steps of medium"));
  CHECK(holds(ran.out, "corrected by the other steps"));
  CHECK(run_program({"lint", device}).code == 0);
  const auto error = [&](const std::string& of) {
    const Ran compared = run_program({"validate", of, "--against", kRecord, "--json", scratch.path("v.json")});
    REQUIRE_MESSAGE(compared.code == 0, compared.err);
    return nlohmann::json::parse(scratch.content("v.json"))["comparisons"][0]["error_p90"].get<double>();
  };
  CHECK(error(device) < error("cpu-epyc-vm"));
}

TEST_CASE("a table that is named twice is refused: its rows would count twice") {
  const Scratch scratch;
  const Ran ran =
      run_program({"calibrate", "--steps", kRecord, kRecord, "--base", "cpu-epyc-vm", "-o", scratch.path("d.yaml")});
  CHECK(ran.code == 2);
  CHECK_MESSAGE(holds(ran.err, "the same file as"), ran.err);
}

TEST_CASE("steps corrected on a device keep what its joules cover and the area of its chips") {
  const Scratch scratch;
  scratch.file("box.yaml", std::string(kRoofline) + "energy_boundary: node\ndie_area: 600 mm2\n");
  const std::string out = scratch.path("mine.yaml");
  REQUIRE(run_program({"calibrate", "--steps", scratch.file("s.csv", table(4)), "--scenario",
                       scratch.file("server.yaml", scenario("box.yaml")), "-o", out})
              .code == 0);
  const std::string written = scratch.content("mine.yaml");
  const std::string own = written.substr(0, written.find("\ndevice:"));  // without what it corrects
  CHECK(holds(own, "energy_boundary: node"));
  CHECK(holds(own, "die_area: 600 mm"));
}

TEST_CASE("a run names the measured steps that it was priced by, and how many of its steps they cover") {
  const Scratch scratch;
  const std::string base = scratch.file("box.yaml", kRoofline), csv = scratch.file("steps.csv", table(4)),
                    server = scratch.file("server.yaml", scenario("box.yaml"));
  REQUIRE(run_program({"calibrate", "--steps", csv, "--scenario", server, "-o", scratch.path("mine.yaml")}).code == 0);
  const std::string again = scratch.file("again.yaml", scenario("mine.yaml"));
  const Ran run = run_program({"run", again, "-q", "-o", scratch.path("out")});
  REQUIRE_MESSAGE(run.code == 0, run.err);
  CHECK(holds(run.out, "within the range of mine: 60 measured steps of llama-3.2-1b"));
  const auto result = nlohmann::json::parse(scratch.content("out/run.json"));
  REQUIRE(result["step_tables"].size() == 1);
  // 10 answers of 20 tokens, one after the other: the first of each is a prompt's, which no measured step is like.
  CHECK(result["step_tables"][0]["steps"] == 200);
  CHECK(result["step_tables"][0]["inside"].get<double>() == approx(0.95));
  // 4 s for each of the 19 steps, of which the host takes 0.1: the table has its 3.9.
  CHECK(result["latency"]["tpot_s"]["mean"].get<double>() == approx(4).epsilon(0.001));
}

TEST_CASE("measured steps of another model or degree are refused where the scenario names the device") {
  const Scratch scratch;
  scratch.file("box.yaml", kRoofline);
  const std::string csv = scratch.file("steps.csv", table(4)),
                    server = scratch.file("server.yaml", scenario("box.yaml"));
  REQUIRE(run_program({"calibrate", "--steps", csv, "--scenario", server, "-o", scratch.path("mine.yaml")}).code == 0);
  const Ran other = run_program({"run", scratch.file("other.yaml", scenario("mine.yaml", "qwen2.5-coder-7b")), "-q"});
  CHECK(other.code == 2);
  CHECK(holds(other.err, "other.yaml:3:"));
  CHECK(holds(other.err, "the steps of mine were measured with llama-3.2-1b, not with qwen2.5-coder-7b"));
}

TEST_CASE("steps that took no longer than the host are left out, and said to be") {
  const Scratch scratch;
  scratch.file("box.yaml", kRoofline);
  std::string csv = table(4);
  csv += "0,1,1000,0.1\n0,2,2000,0.05\n";
  const Ran ran = run_program({"calibrate", "--steps", scratch.file("steps.csv", csv), "--scenario",
                               scratch.file("server.yaml", scenario("box.yaml")), "-o", scratch.path("mine.yaml")});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(holds(ran.out, "60 steps of llama-3.2-1b"));
  CHECK(holds(ran.out, "2 more steps took no longer than the host alone"));
}

TEST_CASE("steps that are all left out for their host are told as such") {
  const Scratch scratch;
  scratch.file("box.yaml", kRoofline);
  // The host takes 0.1 s of each step: 60 steps of 0.05 s and 2 of 4 s.
  const Ran ran =
      run_program({"calibrate", "--steps", scratch.file("s.csv", table(0.05) + "0,1,1000,4\n0,2,2000,4\n"),
                   "--scenario", scratch.file("server.yaml", scenario("box.yaml")), "-o", scratch.path("mine.yaml")});
  CHECK(ran.code == 2);
  CHECK_MESSAGE(holds(ran.err,
                      "60 of 62 steps took no longer than the host alone and are left out: a step table needs "
                      "20 others, and there are 2; times in 'step_s' are in s"),
                ran.err);
}

TEST_CASE("times in another unit than their column's are refused, and times far from the device's told") {
  const Scratch scratch;
  scratch.file("box.yaml", kRoofline);
  const std::string server = scratch.file("server.yaml", scenario("box.yaml")), out = scratch.path("mine.yaml");
  const auto calibrate = [&](double seconds, const std::string& column) {
    std::string csv = table(seconds);
    csv.replace(csv.find("step_s"), 6, column);
    return run_program({"calibrate", "--steps", scratch.file("s.csv", csv), "--scenario", server, "-o", out});
  };
  // 31 decodes stream 2.47 GB of weights, 31,000 entries of 32,768 B and 0.1 GB of activations at 1 GB/s in 3.6 s.
  const Ran small = calibrate(4, "device_ms");
  CHECK(small.code == 2);
  CHECK_MESSAGE(holds(small.err, "the median step took 0.0011 times what box takes for it; "), small.err);
  CHECK(holds(small.err, "times in 'device_ms' are in ms. Beyond a factor of 10 they are in another unit"));
  CHECK_FALSE(std::filesystem::exists(out));
  CHECK(calibrate(4000, "device_s").code == 2);
  const Ran far = calibrate(14, "device_s");
  CHECK(far.code == 0);
  CHECK_MESSAGE(holds(far.err, "warning: the median step took 3.9 times what box takes for it"), far.err);
  CHECK(calibrate(4, "device_s").err.empty());
}

TEST_CASE("what cannot become a table is refused with its place, and nothing is written") {
  const Scratch scratch;
  scratch.file("box.yaml", kRoofline);
  const std::string server = scratch.file("server.yaml", scenario("box.yaml")), out = scratch.path("mine.yaml");
  const auto refused = [&](const std::string& csv) {
    const Ran ran = run_program({"calibrate", "--steps", scratch.file("s.csv", csv), "--scenario", server, "-o", out});
    CHECK(ran.code == 2);
    CHECK_FALSE(std::filesystem::exists(out));
    return ran.err;
  };
  CHECK(holds(refused(""), "s.csv"));
  CHECK(holds(refused("prompt_tokens,decodes,context\n0,1,5\n"), "no column of times"));
  CHECK(holds(refused("prompt_tokens,decodes,context,step_s,device_s\n0,1,5,1,1\n"), "one time for each step"));
  CHECK(holds(refused("prompt_tokens,decodes,context,step_ms\n0,1,5,nan\n"), "s.csv:2:7: error:"));
  CHECK(holds(refused("prompt_tokens,decodes,context,step_ms\n0,1,5,-1\n"), "s.csv:2:7: error:"));
  CHECK(
      holds(refused("prompt_tokens,decodes,context,step_ms\n0,0,0,1\n"), "s.csv:2:3: error: a step that computes no"));
  CHECK(holds(refused("prompt_tokens,decodes,context,step_ms\n0,3,2,1\n"), "s.csv:2:5: error: 3 decodes attend to 2"));
  CHECK(holds(refused("prompt_tokens,decodes,context,step_ms\n0,3,300,1\n"),
              "a step table needs 20 others, and there are 0"));
  CHECK(holds(refused("prompt_tokens,decodes,contexts,step_ms\n0,3,300,1\n"), "s.csv:1:23: error:"));
  const Ran neither = run_program({"calibrate", "--steps", kRecord, "-o", out});
  CHECK(neither.code == 2);
  CHECK(holds(neither.err, "needs --base"));
  const Ran base = run_program({"calibrate", "--steps", scratch.file("s.csv", table(4)), "--base", "l40s", "-o", out});
  CHECK(base.code == 2);
  CHECK(holds(base.err, "s.csv: error: a table of steps does not tell of which server it is"));
  CHECK(holds(base.err, "give --scenario instead of --base"));
  const Ran without = run_program({"calibrate", kRecord, "-o", out});
  CHECK(without.code == 2);
  CHECK(holds(without.err, "needs --base"));
}

}  // namespace llmscape::test::calibrate_steps_test
