// SPDX-License-Identifier: Apache-2.0
// Scenarios with a token plan.
#include <doctest/doctest.h>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::holds;
using llmscape::testing::json_on_simgrid;
using llmscape::testing::mistakes;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

std::string calls(const std::string& model, int requests, int prompt, int output, const std::string& extra = "") {
  return "schema: scenario/1\nmodel: " + model +
         "\nhardware: {devices: [{preset: h100-sxm}]}\nworkload: {arrivals: {kind: burst, programs: " +
         std::to_string(requests) +
         "}, stream: {kind: lengths, prompt: {kind: fixed, value: " + std::to_string(prompt) +
         "}, output: {kind: fixed, value: " + std::to_string(output) + "}}}\n" + extra;
}

std::string planned(const std::string& plan) { return "{preset: llama-3.1-8b, token_plan: " + plan + "}"; }

const std::string kNoPrefixes = "serving: {batcher: {policy: vllm_v1, enable_prefix_caching: false}}\n";

}  // namespace

TEST_CASE("the full plan, and no plan, give the same bytes (INV-9)") {
  CHECK(result::to_json(run_on_event_queue(*scenario_of(calls("llama-3.1-8b", 50, 3000, 100)))) ==
        result::to_json(run_on_event_queue(*scenario_of(calls(planned("full"), 50, 3000, 100)))));
}

TEST_CASE("swiftkv halves what a prompt costs, and leaves decodes alone as they are") {
  const auto base = run_on_event_queue(*scenario_of(calls("llama-3.1-8b", 1, 8192, 2)));
  const auto swift = run_on_event_queue(*scenario_of(calls(planned("swiftkv"), 1, 8192, 2)));
  CHECK(swift.work.flops / base.work.flops == approx(0.517).epsilon(0.002));  // half, and K and V of the other half
  CHECK(swift.latency["ttft_s"]->mean < 0.55 * base.latency["ttft_s"]->mean);
  CHECK(swift.latency["tpot_s"]->mean == approx(base.latency["tpot_s"]->mean).epsilon(1e-6));
  CHECK(swift.work.kv_bytes_per_token == base.work.kv_bytes_per_token);
  const auto shared = run_on_event_queue(*scenario_of(calls(planned("{policy: swiftkv, across_kv: 4}"), 1, 8192, 2)));
  CHECK(shared.work.kv_bytes_per_token == 0.625 * base.work.kv_bytes_per_token);
  // The pool holds as many more tokens as they are smaller, to a block.
  CHECK(static_cast<double>(shared.kv.blocks) == approx(static_cast<double>(base.kv.blocks) / 0.625).epsilon(1e-4));
}

TEST_CASE("under streaming a decode attends to sinks and window, whatever its context") {
  const auto result =
      run_on_event_queue(*scenario_of(calls(planned("{policy: streaming, sinks: 4, window: 1020}"), 5, 3000, 50)));
  CHECK(result.work.entries_per_decode == 1024);
  const auto full = run_on_event_queue(*scenario_of(calls("llama-3.1-8b", 5, 3000, 50)));
  CHECK(full.work.entries_per_decode == 3000 + 50.0 / 2);  // 49 decodes, which see 3,001 to 3,049 entries
}

TEST_CASE(
    "under snapkv a decode attends to the cap and what was generated, and the rest of the prompt frees its blocks") {
  const std::string plan = planned("{policy: snapkv, cap: 1000}");
  const auto result = run_on_event_queue(*scenario_of(calls(plan, 1, 16'000, 50, kNoPrefixes)));
  CHECK(result.work.entries_per_decode == 1000 + 50.0 / 2);
  // Twenty prompts of 1,000 blocks, in a pool of 2,000: without the plan two run at once.
  const std::string blocks = "serving: {kv_blocks: 2000, batcher: {policy: vllm_v1, enable_prefix_caching: false}}\n";
  const auto many = run_on_event_queue(*scenario_of(calls(plan, 20, 16'000, 1000, blocks)));
  const auto full = run_on_event_queue(*scenario_of(calls("llama-3.1-8b", 20, 16'000, 1000, blocks)));
  CHECK(many.requests.completed == 20);
  CHECK(many.mean_batch > 3 * full.mean_batch);
}

TEST_CASE("prompts within the cap are served as without it, but for choosing what to keep") {
  const std::string plan = planned("{policy: snapkv, cap: 4096, window: 32}");
  const auto result = run_on_event_queue(*scenario_of(calls(plan, 1, 4000, 50, kNoPrefixes)));
  const auto full = run_on_event_queue(*scenario_of(calls("llama-3.1-8b", 1, 4000, 50, kNoPrefixes)));
  // Decodes of the same length, which begin at another time: the last digits of a difference.
  CHECK(result.latency["tpot_s"]->mean == approx(full.latency["tpot_s"]->mean).epsilon(1e-12));
  CHECK(result.latency["ttft_s"]->mean == approx(full.latency["ttft_s"]->mean).epsilon(0.02));
  CHECK(result.kv.peak_use == full.kv.peak_use);
}

TEST_CASE("token plans keep the books where requests are preempted, on SimGrid and without (INV-14)") {
  const std::string blocks = "serving: {kv_blocks: 400, batcher: {policy: vllm_v1, enable_prefix_caching: false}}\n";
  for (const std::string plan : {"{policy: snapkv, cap: 500}", "swiftkv", "minference",
                                 "{policy: streaming, window: 300}", "{policy: kv_budget, keep: 1100, then: ring}",
                                 "{policy: kv_budget, keep: 300, select: each_chunk, by_layer: [2, 1, 0.5]}",
                                 "{policy: kv_budget, share: 0.5, by_layer: [3, 1]}"}) {
    CAPTURE(plan);
    const auto scenario = scenario_of(calls(planned(plan), 60, 900, 400, blocks));
    const auto result = run_on_event_queue(*scenario);
    CHECK(result.requests.completed == 60);
    CHECK(result.kv.preemptions > 0);
    CHECK(json_on_simgrid(*scenario) == result::to_json(result));
    CHECK(json_on_simgrid(*scenario, 0) == result::to_json(result));
  }
}

TEST_CASE("a pool holds as many more tokens as keys and values in formats of their own are smaller") {
  const auto blocks = [](const std::string& kv) {
    return static_cast<double>(
        run_on_event_queue(*scenario_of(calls("{preset: llama-3.1-8b, kv: " + kv + "}", 1, 100, 2))).kv.blocks);
  };
  const double bf16 = blocks("bf16");
  CHECK(blocks("{keys: bf16}") == bf16);
  CHECK(blocks("{keys: int8, values: bf16}") == approx(bf16 * 4 / 3).epsilon(1e-4));
  // 131,072 bytes a token, and 32,768 x (1 + 0.25 + 2 x 4 / 64).
  CHECK(blocks("{keys: int8, values: int2, group: 64, zero_point: true}") ==
        approx(bf16 * 131'072 / 45'056).epsilon(1e-4));
}

TEST_CASE("snapkv and streaming through kv_budget give the same bytes") {
  const auto json = [](const std::string& plan) {
    return result::to_json(run_on_event_queue(*scenario_of(calls(planned(plan), 40, 3000, 100, kNoPrefixes))));
  };
  CHECK(json("{policy: snapkv, cap: 1024, window: 32}") ==
        json("{policy: kv_budget, keep: 1024, window: 32, scored_queries: 32}"));
  CHECK(json("{policy: streaming, sinks: 4, window: 1020}") ==
        json("{policy: kv_budget, select: position, sinks: 4, window: 1020, frees: false}"));
}

TEST_CASE("a budget for each chunk: prompts longer than the pool are served, within budget and chunk") {
  // 64 blocks hold 1,024 tokens: 512 of the budget and a chunk of 256 fit, 30,000 of the prompt do not.
  const std::string small =
      "serving: {kv_blocks: 64, batcher: {policy: vllm_v1, enable_prefix_caching: false, max_num_batched_tokens: "
      "256}}\n";
  const std::string plan = planned("{policy: kv_budget, keep: 512, select: each_chunk}");
  const auto result = run_on_event_queue(*scenario_of(calls(plan, 2, 30'000, 20, small)));
  CHECK(result.requests.completed == 2);
  CHECK(result.kv.peak_use <= 1);
  const auto one = run_on_event_queue(*scenario_of(calls(plan, 1, 30'000, 20, small)));
  CHECK(one.kv.peak_use == approx((512.0 + 256) / 1024));
  CHECK(one.work.entries_per_decode == 512 + 20.0 / 2);
  // The whole prompt sees 512 entries before each chunk: pairs grow with its length, not with its square.
  const auto twice = run_on_event_queue(*scenario_of(calls(plan, 1, 60'000, 20, small)));
  CHECK(twice.latency["ttft_s"]->mean == approx(2 * one.latency["ttft_s"]->mean).epsilon(0.01));
}

TEST_CASE("a ring: a decode reads no more than it holds, however long the answer is") {
  const auto result = run_on_event_queue(
      *scenario_of(calls(planned("{policy: kv_budget, keep: 1024, then: ring}"), 1, 3000, 3000, kNoPrefixes)));
  CHECK(result.work.entries_per_decode == 1024);
  const auto small = run_on_event_queue(
      *scenario_of(calls(planned("{policy: kv_budget, select: position, sinks: 4, window: 1020}"), 1, 30'000, 3000,
                         "serving: {kv_blocks: 200, batcher: {policy: vllm_v1, enable_prefix_caching: false, "
                         "max_num_batched_tokens: 2048}}\n")));
  CHECK(small.requests.completed == 1);
  CHECK(small.kv.peak_use == approx((1024.0 + 2048) / 3200));
}

TEST_CASE("plans that a model or an engine cannot take are refused where they stand") {
  CHECK(holds(mistakes(calls("{preset: deepseek-v2-lite, token_plan: swiftkv}", 1, 10, 10)),
              "token plan 'swiftkv' needs keys and values: deepseek-v2-lite has latent attention"));
  CHECK(
      holds(mistakes(calls("{preset: qwen3.5-35b-a3b, token_plan: swiftkv}", 1, 10, 10)),
            "token plan 'swiftkv' needs keys and values in every layer: qwen3.5-35b-a3b has layers that keep a state"));
  CHECK(holds(mistakes(calls(planned("snapkv"), 1, 10, 10)), "needs blocks that no two sequences share"));
  CHECK(holds(mistakes(calls(planned("swiftkv"), 1, 10, 10,
                             "serving: {lora: {rank: 8, targets: [q], adapters: 2, "
                             "popularity: 0}}\n")),
              "does not say what adapters do"));
  CHECK(holds(mistakes(calls(planned("swiftkw"), 1, 10, 10)), "swiftkv"));
}

TEST_CASE(
    "thinned prompts take the FLOPs of the tokens that pass, keep a share in all layers, and leave decodes as plans "
    "do") {
  const std::string whole =
      "serving: {cuda_graphs: none, batcher: {policy: vllm_v0, max_num_seqs: 1, max_num_batched_tokens: 131072}, "
      "kv_blocks: 9000}\n";
  const std::string plan = "{policy: thinning, stages: [{after: 16, share: 0.2}], keep: 0.1, scored_queries: 8}";
  const auto full = run_on_event_queue(*scenario_of(calls("llama-3.1-8b", 1, 131'000, 2, whole)));
  const auto fast = run_on_event_queue(*scenario_of(calls(planned(plan), 1, 131'000, 2, whole)));
  CHECK(full.work.flops / fast.work.flops == approx(1.84).epsilon(0.01));
  CHECK(fast.work.entries_per_decode == 13'100 + 1);  // of the prompt, and the token itself
  CHECK(fast.kv.peak_use < 0.11 * full.kv.peak_use);
  // A share of one changes neither work nor time, but for choosing.
  const std::string all = "{policy: thinning, stages: [{after: 16, share: 1}]}";
  const auto one = run_on_event_queue(*scenario_of(calls(planned(all), 1, 131'000, 2, whole)));
  CHECK(one.work.flops == full.work.flops);
  CHECK(one.latency["ttft_s"]->mean == approx(full.latency["ttft_s"]->mean).epsilon(1e-9));
  CHECK(one.latency["tpot_s"]->mean == approx(full.latency["tpot_s"]->mean).epsilon(1e-9));
}

TEST_CASE("thinning needs prompts whole, and says what else does not go with it") {
  const std::string plan = planned("{policy: thinning, stages: [{after: 16, share: 0.2}]}");
  CHECK(holds(mistakes(calls(plan, 1, 100, 2, kNoPrefixes)), "this batcher cuts prompts"));
  CHECK(scenario_of(
      calls(plan, 1, 100, 2,
            "serving: {batcher: {policy: vllm_v1, enable_prefix_caching: false, chunked_prefill: false}}\n")));
  CHECK(holds(
      mistakes(calls(plan, 1, 100, 2, "serving: {batcher: vllm_v0, kv_host: {preset: host-ddr5, capacity: 64 GB}}\n")),
      "does not go together with 'kv_host'"));
  for (const std::string device : {"sn40l", "edgecim"})
    CHECK(holds(mistakes("schema: scenario/1\nmodel: " + plan + "\nhardware: {devices: [{preset: " + device +
                         "}]}\nserving: {batcher: vllm_v0}\nworkload: {arrivals: {kind: burst, programs: 1}, stream: "
                         "{kind: lengths, prompt: {kind: fixed, value: 100}, output: {kind: fixed, value: 2}}}\n"),
                "token plan"));
}
