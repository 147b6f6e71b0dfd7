// SPDX-License-Identifier: Apache-2.0
// Whole scenarios with streaming prompts.
#include <doctest/doctest.h>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::json_on_simgrid;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

// One H100, whose pool of 1,000 blocks holds two contexts of 8,000 tokens.
const std::string kPressed = R"(schema: scenario/1
model: llama-3.1-8b
hardware: {devices: [{preset: h100-sxm, count: 1}]}
serving:
  streaming_input: true
  kv_blocks: 1000
  max_model_len: 16000
  batcher: {policy: streaming, order: fcfs, victims: by_cost}
  kv_swap: {name: host, capacity: 64 GB, read: 20 GB/s, write: 20 GB/s, latency: 10 us}
workload:
  arrivals: {kind: poisson, rate: 2 /s}
  requests: 200
  stream:
    kind: streamed_retrieval
    context: {kind: log_normal, mean: 4000, cv: 1, max: 12000}
    chunks: {kind: gamma, mean: 6, cv: 0.4}
    first: {kind: fixed, value: 1 s}
    gap: {kind: exponential, mean: 500 ms}
    chunk_cv: 0.5
    output: {kind: geometric, mean: 20}
)";

}  // namespace

TEST_CASE(
    "streamed prompts under pressure: SimGrid and the event queue, ahead of the clock or not, give the same bytes") {
  const auto scenario = scenario_of(kPressed);
  const result::RunResult result = run_on_event_queue(*scenario);
  CHECK(result.kv.preemptions > 20);
  CHECK(result.kv_store("kv_swap").at("swaps") > 0);
  CHECK(result.kv_store("kv_swap").at("swaps") < static_cast<double>(result.kv.preemptions));
  CHECK(result.kv_store("kv_swap").at("share") ==
        approx(result.kv_store("kv_swap").at("swaps") / static_cast<double>(result.kv.preemptions)));
  const auto roomy = run_on_event_queue(*scenario_of(kPressed, {"serving.kv_blocks=100000"}));
  CHECK(roomy.kv.preemptions == 0);
  CHECK_THROWS_AS(static_cast<void>(roomy.kv_store("kv_swap").at("share")), std::out_of_range);  // of nothing
  const std::string simgrid = json_on_simgrid(*scenario);
  CHECK(simgrid.size() > 1000);
  CHECK(simgrid == result::to_json(result));
  CHECK(simgrid == result::to_json(run_on_event_queue(*scenario, 0)));
}

TEST_CASE("a context that comes at once: streaming on or off, the same bytes") {
  const auto json = [](const char* streaming) {
    return result::to_json(run_on_event_queue(*scenario_of(
        kPressed, {"workload.stream.chunks={kind: fixed, value: 1}", streaming, "workload.requests=100"})));
  };
  CHECK(json("serving.streaming_input=true") == json("serving.streaming_input=false"));
}

TEST_CASE("a run that stops while prompts are incomplete accounts for what was computed of them (INV-1, INV-5)") {
  for (const char* mode : {"append", "update"}) {
    const result::RunResult result =
        run_on_event_queue(*scenario_of(kPressed, {"horizon=20 s", std::string("workload.stream.mode=") + mode}));
    CHECK(result.requests.queued + result.requests.running > 0);
    CHECK(result.tokens.discarded > 0);
    CHECK((result.tokens.invalidated > 0) == (mode == std::string("update")));
    CHECK(result.tokens.computed ==
          result.tokens.prompt + result.tokens.recomputed + result.tokens.invalidated + result.tokens.discarded);
  }
}

TEST_CASE("the time to first token from the completion of the context is no longer than that from the arrival") {
  const result::RunResult streamed = run_on_event_queue(*scenario_of(kPressed));
  const result::RunResult whole = run_on_event_queue(*scenario_of(kPressed, {"serving.streaming_input=false"}));
  CHECK(streamed.latency["context_ttft_s"]->count == 200);
  CHECK(streamed.latency["context_ttft_s"]->mean < streamed.latency["ttft_s"]->mean);
  CHECK(whole.latency["context_ttft_s"]->mean == whole.latency["ttft_s"]->mean);  // it arrives when it is complete
}

// 90 blocks of 2 MB, of which 20 come back in 0.2 s over 200 MB/s while a step takes 8 ms. A prompt whose copy was
// there and that needed a block more gave way itself, was copied back before the others' copies were there, and so on
// for ever: 37 of the 300 were answered in 400 s.
TEST_CASE("prompts whose entries come back slowly do not push one another out for ever") {
  const result::RunResult result = run_on_event_queue(*scenario_of(R"(schema: scenario/1
model: llama-3.1-8b
hardware: {devices: [{preset: h100-sxm, count: 1}]}
serving:
  kv_blocks: 90
  max_model_len: 1440
  batcher: {policy: streaming, victims: swap, max_num_seqs: 8, max_num_batched_tokens: 256, async_scheduling: false}
  kv_swap: {name: host, capacity: 200 MB, read: 200 MB/s, write: 50 GB/s, latency: 100 us}
workload:
  requests: 300
  arrivals: {kind: poisson, rate: 30 /s}
  stream: {kind: lengths, prompt: {kind: uniform, min: 50, max: 900}, output: {kind: uniform, min: 1, max: 150}}
horizon: 400 s
)"));
  CHECK(result.requests.completed == 300);
}
