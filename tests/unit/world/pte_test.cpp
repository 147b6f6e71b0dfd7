// SPDX-License-Identifier: Apache-2.0
// Prefill token equivalents (arXiv 2604.05404).
#include "sim/world/pte.hpp"

#include <doctest/doctest.h>

#include "models/catalog.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

models::ModelSpec shipped(const std::string& name) {
  Diagnostics diagnostics;
  auto model = models::load_model("models/catalog", name, {}, diagnostics);
  REQUIRE_MESSAGE(model, diagnostics.text(false));
  return *model;
}

// Tasks of three calls, 1,000 tokens at first, answers of 100, tool results of 400: prompts of 1,000, 1,500 and 2,000.
std::string agents(const std::string& serving) {
  return "schema: scenario/1\nmodel: qwen2.5-7b\nhardware: {devices: [{preset: h100-sxm, count: 1}]}\n"
         "serving: {batcher: {policy: vllm_v1" +
         serving +
         "}}\nworkload:\n  requests: 5\n  arrivals: {kind: poisson, rate: 1 /s}\n  stream: {kind: agents, task: {kind: "
         "fixed, value: 1000}, calls: {kind: fixed, value: 3}, output: {kind: fixed, value: 100}, tool_result: {kind: "
         "fixed, value: 400}, tool_time: {kind: fixed, value: 2 s}}\n";
}

}  // namespace

TEST_CASE("gamma is that of the paper's formula: 989 TFLOP/s over 3.35 TB/s are 295 FLOP per byte") {
  const double h100 = 989 / 3.35;
  CHECK(world::pte_gamma(shipped("qwen2.5-7b"), h100).paper == approx(2 * 28 * 3584 * h100 / 7.616e9).epsilon(0.001));
  CHECK(world::pte_gamma(shipped("qwen2.5-72b"), h100).paper == approx(0.00532).epsilon(0.01));
  CHECK(world::pte_gamma(shipped("qwen3-235b-a22b"), h100).paper == approx(0.00097).epsilon(0.01));
  // 4 KV heads of 128 for a width of 3,584.
  const world::PteGamma gamma = world::pte_gamma(shipped("qwen2.5-7b"), h100);
  CHECK(gamma.kv / gamma.paper == approx(4.0 * 128 / 3584));
}

TEST_CASE("whole contexts count again in every call, whether they were computed again or found") {
  const double decoding = 100.0 * (1100 + 1600 + 2100);
  for (const bool evicted : {true, false}) {
    CAPTURE(evicted);
    const auto scenario = scenario_of(agents(evicted ? ", enable_prefix_caching: false" : ""));
    const result::RunResult result = run_on_event_queue(*scenario);
    REQUIRE(result.pte);
    CHECK(result.pte->mean == approx(4500 + result.pte->gamma * decoding));
    // Blocks of 16 tokens, and the last token of an answer has no KV entry: of the second prompt 1,088 of 1,099 are
    // found, of the third 1,584 of 1,599.
    const double computed = evicted ? 4500 : 4500 - 1088 - 1584;
    CHECK(result.pte->mean_computed == approx(computed + result.pte->gamma * decoding));
    CHECK(result.pte->mean_tokens == approx(1000 + 3 * 100 + 2 * 400));
    REQUIRE(result.latency["task_s"]);
    CHECK(result.latency["task_s"]->count == 5);
    CHECK(result.latency["task_s"]->mean > 4);  // two tools of 2 s
  }
}

// A task of three calls takes 4 s and more: calls of those that began before the warm-up arrive behind it.
TEST_CASE("what was computed is that of the calls of measured tasks: 1,000 + 1,500 + 2,000 each") {
  const auto result =
      run_on_event_queue(*scenario_of(agents(", enable_prefix_caching: false"), {"workload.warmup=5 s"}));
  REQUIRE(result.pte);
  REQUIRE(result.latency["task_s"]->count == 2);
  CHECK(result.pte->mean_computed == approx(4500 + result.pte->gamma * 100.0 * (1100 + 1600 + 2100)));
}

TEST_CASE("a device that states no peaks has no prefill token equivalents") {
  const auto scenario =
      scenario_of(agents(""), {"model=llama-3.1-8b", "hardware.devices[0].preset=sn40l", "hardware.devices[0].count=16",
                               "serving.tensor_parallel=16", "serving.max_model_len=8192"});
  CHECK_FALSE(run_on_event_queue(*scenario).pte);
}

TEST_CASE(
    "devices of different intensity that decode for one model have no common gamma, in whatever order they stand") {
  const auto with = [](const std::string& groups) {
    std::string text = agents("");
    const std::string one = "[{preset: h100-sxm, count: 1}]";
    return text.replace(text.find(one), one.size(), groups);
  };
  const std::string h100 = "{name: h, preset: h100-sxm, count: 1}", a100 = "{name: a, preset: a100-80, count: 1}";
  CHECK(!run_on_event_queue(*scenario_of(with("[" + h100 + ", " + a100 + "]"))).pte);
  CHECK(!run_on_event_queue(*scenario_of(with("[" + a100 + ", " + h100 + "]"))).pte);
  CHECK(run_on_event_queue(*scenario_of(with("[" + h100 + ", {name: b, preset: h100-sxm, count: 1}]"))).pte);
}
