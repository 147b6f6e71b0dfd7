// SPDX-License-Identifier: Apache-2.0
// What a replica holds, and what its parts have together: prefill pools, streams of a pipeline, nodes, drafts.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

// A prefill pool of so many KV tokens that hands prompts of 4,000 tokens to a large decode pool.
result::RunResult handed_on(const std::string& batcher, int output, int kv_blocks, int calls) {
  return run_on_event_queue(*scenario_of(fmt::format(
      "schema: scenario/1\nmodel: llama-3.1-8b\n"
      "hardware: {{devices: [{{name: p, preset: h100-sxm}}, {{name: d, preset: h100-sxm}}], fabric: {{groups: "
      "{{p: {{node: dgx-h100}}, d: {{node: dgx-h100}}}}}}}}\n"
      "serving: {{first_token: prefill, kv_by_layer: false, pools: [{{devices: [p], role: prefill, kv_blocks: {}, "
      "batcher: {}}}, {{devices: [d], role: decode}}]}}\n"
      "workload: {{arrivals: {{kind: burst, programs: {}}}, stream: {{kind: lengths, prompt: {{kind: fixed, value: "
      "4000}}, "
      "output: {{kind: fixed, value: {}}}}}}}\n",
      kv_blocks, batcher, calls, output)));
}

}  // namespace

TEST_CASE("a prefill pool has no room to keep for answers that another pool decodes") {
  // 300 blocks hold a prompt of 4,000 tokens, and no answer of 3,000 beside it.
  CHECK(handed_on("{policy: vllm_v1}", 3000, 300, 2).requests.completed == 2);
  // Where 1,280 blocks hold five prompts, the length of the answers does not change when first tokens come.
  for (const char* batcher :
       {"{policy: vllm_v1}", "{policy: trtllm, max_num_tokens: 32768}", "{policy: orca, max_prompt_tokens: 32768}",
        "{policy: sarathi}", "{policy: sglang, chunked_prefill_size: 32768}", "{policy: static}"}) {
    CAPTURE(batcher);
    const auto brief = handed_on(batcher, 2, 1280, 5), lengthy = handed_on(batcher, 4000, 1280, 5);
    CHECK(lengthy.requests.completed == 5);
    CHECK(lengthy.latency["ttft_s"]->max == approx(brief.latency["ttft_s"]->max).epsilon(1e-9));
  }
}

TEST_CASE("streams of one pipeline have the tier below their replica and its ports together") {
  const auto tier = [](int batches) {
    return run_on_event_queue(*scenario_of(fmt::format(
        "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {{devices: [{{preset: a100-80, count: 4}}]}}\n"
        "serving: {{pipeline_parallel: 4, pipeline_batches: {}, kv_blocks: 2400, max_model_len: 4000, kv_write: "
        "write_through, kv_tiers: [{{preset: host-ddr5, capacity: 2 GB}}]}}\n"
        "workload: {{requests: 40, arrivals: {{kind: poisson, rate: 4 /s}}, stream: {{kind: lengths, prompt: {{kind: "
        "fixed, value: 1600}}, output: {{kind: fixed, value: 16}}}}}}\n",
        batches)));
  };
  for (const int batches : {1, 4}) {
    const auto run = tier(batches);
    REQUIRE(run.kv_tiers.size() == 1);
    CHECK(run.kv_tiers[0].memories == 1);
    CHECK(run.kv_tiers[0].capacity_bytes <= 2e9);
    CHECK(run.kv_tiers[0].written_bytes > 1e9);
  }
  // Two prompts at once from two devices of 0.2 GB/s each, as one stream or as two: 1.05 GB leave at 0.4 GB/s.
  const auto moved = [](int batches) {
    return run_on_event_queue(*scenario_of(fmt::format(
        "schema: scenario/1\nmodel: llama-3.1-8b\n"
        "hardware: {{devices: [{{name: p, preset: h100-sxm, count: 2}}, {{name: d, preset: h100-sxm, count: 2}}], "
        "fabric: "
        "{{groups: {{p: {{node: {{devices: 8, port: 0.2 GB/s, port_latency: 0 s, uplink: 100 GB/s, uplink_latency: 0 "
        "s}}}}, d: {{node: {{devices: 8, port: 100 "
        "GB/s, port_latency: 0 s, uplink: 100 GB/s, uplink_latency: 0 s}}}}}}}}}}\n"
        "serving: {{kv_by_layer: false, pools: [{{devices: [p], role: prefill, pipeline_parallel: 2, pipeline_batches: "
        "{}}}, "
        "{{devices: [d], role: decode}}]}}\n"
        "workload: {{arrivals: {{kind: burst, programs: 2}}, stream: {{kind: lengths, prompt: {{kind: fixed, value: "
        "4000}}, output: {{kind: fixed, value: 3}}}}}}\n",
        batches)));
  };
  const double bytes = 2 * 4000 * 131072.;
  for (const int batches : {1, 2}) CHECK(moved(batches).latency["e2e_s"]->max > bytes / 0.4e9);
}

TEST_CASE("a replica over two nodes has the tiers of both") {
  const auto capacity = [](int parallel) {
    const auto run = run_on_event_queue(*scenario_of(fmt::format(
        "schema: scenario/1\nmodel: llama-3.1-70b\n"
        "hardware: {{devices: [{{name: gpu, preset: h100-sxm, count: 16}}], fabric: {{groups: {{gpu: {{node: "
        "dgx-h100}}}}}}}}\n"
        "serving: {{tensor_parallel: {}, kv_write: write_through, kv_tiers: [{{preset: host-ddr5, shared_by: node, "
        "capacity: 4 GB}}]}}\n"
        "workload: {{requests: 8, arrivals: {{kind: poisson, rate: 4 /s}}, stream: {{kind: lengths, prompt: {{kind: "
        "fixed, "
        "value: 1600}}, output: {{kind: fixed, value: 4}}}}}}\n",
        parallel)));
    REQUIRE(run.kv_tiers.size() == 1);
    return std::pair(run.kv_tiers[0].memories, run.kv_tiers[0].capacity_bytes);
  };
  CHECK(capacity(8) == capacity(16));  // two nodes either way
  CHECK(capacity(16).first == 2);
}

TEST_CASE("a cold start loads the model that makes drafts as well") {
  const auto ttft = [](const std::string& speculation) {
    return run_on_event_queue(
               *scenario_of(
                   "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{name: gpu, preset: h100-sxm}]}\n"
                   "serving: {cold_start: {boot: 1 s, bandwidth: 10 GB/s}, controllers: [{policy: autoscale, min: 0, "
                   "max: 1, up_at: 4, down_at: 0.1, interval: 1 s}]" +
                   speculation +
                   "}\nworkload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, "
                   "value: "
                   "100}, output: {kind: fixed, value: 2}}}\n"))
        .latency["ttft_s"]
        ->mean;
  };
  const double drafted = ttft(", speculation: {tokens: 4, acceptance: 0.8, draft: {model: llama-3.2-1b}}");
  // 1,235,814,400 parameters of 2 bytes at 10 GB/s; the prompt of the draft model takes some ms beside them.
  CHECK(drafted - ttft("") == approx(2 * 1.2358144e9 / 10e9).epsilon(0.05));
}

TEST_CASE("each rank that decodes is sent its own copy of what ranks hold alike") {
  const auto bytes = [](const std::string& model, int from, int to) {
    const auto run = run_on_event_queue(*scenario_of(fmt::format(
        "schema: scenario/1\nmodel: {}\n"
        "hardware: {{devices: [{{name: p, preset: h200, count: {}}}, {{name: d, preset: h200, count: {}}}], fabric: "
        "{{groups: {{p: {{node: hgx-h200}}, d: {{node: hgx-h200}}}}}}}}\n"
        "serving: {{pools: [{{devices: [p], role: prefill, tensor_parallel: {}}}, {{devices: [d], role: decode, "
        "tensor_parallel: {}}}]}}\n"
        "workload: {{arrivals: {{kind: burst, programs: 1}}, stream: {{kind: lengths, prompt: {{kind: fixed, value: "
        "4000}}, output: {{kind: fixed, value: 3}}}}}}\n",
        model, from, to, from, to)));
    double sum = 0;
    for (const auto& link : run.links)
      if (link.name.find("port of replica 1, in") != std::string::npos) sum += link.bytes;
    return sum;
  };
  CHECK(bytes("deepseek-v3", 8, 8) == approx(8 * 4000. * 61 * 576 * 2));  // latents in 16 bits
  CHECK(bytes("llama-3.1-70b", 4, 8) == approx(4000. * 80 * 8 * 2 * 128 * 2));
  CHECK(bytes("llama-3.1-70b", 8, 16) == approx(2 * 4000. * 80 * 8 * 2 * 128 * 2));  // 8 KV heads
}
