// SPDX-License-Identifier: Apache-2.0
// Choices that change nothing.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

namespace no_effect_test {

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::holds;
using llmscape::testing::mistakes;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

constexpr const char* kOneCall =
    "workload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, value: 100}, "
    "output: {kind: fixed, value: 2}}}\n";

std::string yaml_of(const std::string& model, const std::string& device, const std::string& serving) {
  return "schema: scenario/1\nmodel: " + model + "\nhardware: {devices: [" + device + "]}\nserving: {" + serving +
         "}\n" + kOneCall;
}

bool warns(const std::string& yaml, const char* of) {
  const auto scenario = scenario_of(yaml);
  REQUIRE(scenario);
  return std::ranges::any_of(scenario->warnings, [&](const std::string& text) { return holds(text, of); });
}

constexpr const char* kSockets = "{preset: sn40l, count: 8}";
constexpr const char* kGpus = "{preset: h100-sxm, count: 2}";

}  // namespace

TEST_CASE("rules of the KV pool have no effect where a device says itself what it holds, and the user is told") {
  const auto sockets = [](const std::string& more) {
    return yaml_of("llama-3.1-8b", kSockets, "tensor_parallel: 8" + more);
  };
  const auto gpus = [](const std::string& more) { return yaml_of("llama-3.1-8b", kGpus, "tensor_parallel: 2" + more); };
  for (const char* choice : {"kv_windows: split", "gpu_memory_utilization: 0.5"}) {
    CAPTURE(choice);
    const std::string key = std::string(choice).substr(0, std::string(choice).find(':'));
    const std::string said = "serving." + key + " has no effect: 'sn40l' says itself how many tokens of KV it holds";
    CHECK(warns(sockets(std::string(", ") + choice), said.c_str()));
    CHECK_FALSE(warns(gpus(std::string(", ") + choice), "has no effect"));
  }
  // What is taken anyway is no choice: saved scenarios say it.
  CHECK_FALSE(warns(sockets(", kv_windows: pooled, gpu_memory_utilization: 0.9"), "has no effect"));
}

TEST_CASE("only data-parallel ranks of a mixture exchange tokens") {
  const auto exchanges = [](const std::string& plan) {
    return yaml_of("qwen3-30b-a3b", kGpus, plan + ", expert_exchange: all_to_all");
  };
  CHECK(warns(exchanges("tensor_parallel: 2, expert_parallel: 2"), "serving.expert_exchange has no effect"));
  CHECK_FALSE(warns(exchanges("data_parallel: 2, expert_parallel: 2"), "has no effect"));
}

TEST_CASE("macros take inputs of their own width: narrower activations change nothing, and the user is told") {
  const auto chip = [](const std::string& activations) {
    return yaml_of("{preset: llama-3.2-1b, weights: int4, kv: int8, activations: " + activations + "}",
                   "{preset: cim-edge}", "batcher: vllm_v1");
  };
  const char* const said = "model.activations has no effect on 'cim-edge': its macros take inputs of 8 bits";
  CHECK(warns(chip("int4"), said));
  CHECK_FALSE(warns(chip("int8"), said));
  CHECK_FALSE(warns(chip("bf16"), said));
}

}  // namespace no_effect_test
