// SPDX-License-Identifier: Apache-2.0
// Peak memory by kind (INV-18), against bounds from figures that are counted in other places.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/result/metric_table.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

std::string served(const std::string& serving, const std::string& plan = "full", const std::string& device = "h100-sxm",
                   int count = 1) {
  return "schema: scenario/1\nmodel: {preset: llama-3.1-8b, token_plan: " + plan +
         "}\nhardware: {devices: [{preset: " + device + ", count: " + std::to_string(count) + "}]}\nserving: {" +
         serving +
         "}\nworkload: {requests: 40, arrivals: {kind: poisson, rate: 8 /s}, stream: {kind: lengths, prompt: {kind: "
         "log_normal, mean: 1500, cv: 1}, output: {kind: geometric, mean: 120}}}\nseed: 3\n";
}

double number(const result::RunResult& result, const std::string& key) {
  const metrics::Column* column = metrics::find_column(key);
  REQUIRE(column);
  const auto value = column->value(result);
  REQUIRE(value);
  return *value;
}

}  // namespace

TEST_CASE("the kinds of memory sum to its peak, which lies between what KV blocks need and what all peaks would") {
  struct Case {
    std::string scenario;
    int ranks = 1;
  };
  const std::string whole = "batcher: {policy: vllm_v0, max_num_batched_tokens: 131072}";
  const std::vector<Case> cases = {
      {served("batcher: vllm_v1")},
      {served("batcher: vllm_v0")},
      {served("batcher: orca")},
      {served("batcher: trtllm")},
      {served("batcher: sglang")},
      {served("batcher: sarathi")},
      {served("batcher: layered")},
      {served("batcher: static")},
      {served("tensor_parallel: 2", "full", "a100-80", 2), 2},
      {served("kv_blocks: 400")},  // preempts
      {served("kv_tiers: [{preset: host-ddr5, capacity: 64 GB}]")},
      {served("batcher: {policy: vllm_v1, enable_prefix_caching: false}", "{policy: snapkv, cap: 512}")},
      {served(whole, "{policy: thinning, stages: [{after: 16, share: 0.2}], keep: 0.1}")},
      {served("engine: {name: transformers}")},
      {served("engine: {name: transformers, version: \"4.30\"}")},
      {served("engine: {kv_cache: static}, max_model_len: 16384, batcher: {policy: vllm_v1, max_num_seqs: 8}")},
  };
  for (const Case& one : cases) {
    CAPTURE(one.scenario);
    const result::RunResult result = run_on_event_queue(*scenario_of(one.scenario));
    double sum = 0;
    for (const metrics::Metric& metric : metrics::memory_numbers())
      if (metric.key != "peak_memory_bytes") sum += number(result, std::string(metric.key));
    const double peak = number(result, "peak_memory_bytes");
    CHECK(sum == approx(peak).epsilon(1e-12));
    const double blocks = result.kv.peak_use * static_cast<double>(result.kv.blocks) * 16 * 131'072 / one.ranks;
    const double weights = number(result, "weights_bytes");
    CHECK(weights == approx(16.06e9 / one.ranks).epsilon(0.001));
    CHECK(peak >= (weights + blocks) * (1 - 1e-12));
    const double beside =
        number(result, "scores_bytes") + number(result, "copies_bytes") + number(result, "logits_bytes");
    const double slots = one.scenario.find("static}") == std::string::npos ? 0 : 8.0 * 16'384 * 131'072;
    CHECK(peak <= weights + std::max(blocks, slots) + beside + result.work.activation_bytes + 1);
    for (const std::string& warning : result.warnings) CHECK(warning.find("would not run") == std::string::npos);
  }
}

TEST_CASE("a run that needs more memory than its device has says so") {
  // 700K tokens of KV entries in 16 bits are 92 GB: the pool is the user's, not the device's.
  const std::string scenario =
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: a100-80}]}\nserving: {kv_blocks: 50000, "
      "max_model_len: 800000, batcher: {policy: vllm_v0, max_num_seqs: 1, max_num_batched_tokens: 4096}}\nworkload: "
      "{arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, value: 700000}, output: "
      "{kind: fixed, value: 1}}}\n";
  const result::RunResult result = run_on_event_queue(*scenario_of(scenario));
  REQUIRE_FALSE(result.warnings.empty());
  bool said = false;
  for (const std::string& warning : result.warnings)
    said = said || warning.find("it would not run") != std::string::npos;
  CHECK(said);
  CHECK(number(result, "kv_entries_bytes") == approx(700'000 * 131'072.0).epsilon(1e-4));
}
