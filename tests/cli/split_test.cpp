// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/run_program.hpp"

using llmscape::testing::approx;

namespace llmscape::test {
namespace {

using Json = nlohmann::ordered_json;

// A made-up accelerator that takes its memory time and nothing else: 1 TB/s, 32 GB, 50 W idle.
std::string accelerator(const std::string& name) {
  return "{kind: roofline, name: " + name +
         ", accuracy: made up, peak_bf16: 10 Pflop/s, memory_bandwidth: 1 TB/s, memory_capacity: 32 GB, "
         "compute_efficiency: 1, attention_efficiency: 1, memory_efficiency: 1, per_operator: 0 us, per_step: 0 us, "
         "per_request: 0 us, tdp: 1 kW, idle_power: 50 W, compute_energy: 0 pJ/flop, memory_energy: 0 pJ/bit}";
}

Json run(const std::string& device) {
  const Scratch scratch;
  const std::string scenario =
      "schema: scenario/1\n"
      "model: llama-3.2-1b\n"
      "hardware:\n  devices:\n    - " +
      device +
      "\nworkload: {arrivals: {kind: poisson, rate: 2 /s}, requests: 30, stream: {kind: lengths, prompt: {kind: fixed, "
      "value: 128}, output: {kind: fixed, value: 16}}}\n"
      "seed: 7\n";
  const Ran ran = run_program({"run", scratch.file("s.yaml", scenario), "--format", "json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return Json::parse(ran.out);
}

}  // namespace

TEST_CASE("a pipeline over two devices serves a scenario, a crossing a token slower than one device") {
  const Json one = run(accelerator("chip"));
  const Json two =
      run("{kind: pipeline, name: pair, link: {bandwidth: 1 TB/s, latency: 1 ms, energy: 0 pJ/bit}, stages: "
          "[{device: " +
          accelerator("front") + ", layers: 6}, {device: " + accelerator("back") + ", layers: 10}]}");
  CHECK(two["requests"]["completed"] == 30);
  const auto median = [](const Json& result) { return result["latency"]["tpot_s"]["p50"].get<double>(); };
  CHECK(median(two) - median(one) == approx(1e-3).epsilon(0.02));
  CHECK(two["energy"]["mean_w"].get<double>() == approx(100));
}

TEST_CASE("attention on one preset and GEMMs on another serve a scenario") {
  const Json result =
      run("{kind: attention_offload, name: pair, link: {bandwidth: 50 GB/s, latency: 5 us, energy: 10 "
          "pJ/bit}, attention: {preset: a100-80, count: 2}, weights: h100-sxm}");
  CHECK(result["requests"]["completed"] == 30);
  CHECK(result["energy"]["joules"]["interconnect"].get<double>() > 0);
}

}  // namespace llmscape::test
