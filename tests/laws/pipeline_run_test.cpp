// SPDX-License-Identifier: Apache-2.0
// Whole scenarios with several batches in a pipeline, and what is counted of experts.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::json_on_simgrid;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

constexpr const char* kStages =
    "schema: scenario/1\n"
    "model: llama-3.1-8b\n"
    "hardware:\n"
    "  devices: [{preset: h100-sxm, count: 4}]\n"
    "serving:\n"
    "  pipeline_parallel: 4\n"
    "  router: round_robin\n"
    "  batcher: {policy: orca, max_batch: 8}\n"
    "workload:\n"
    "  arrivals: {kind: burst, programs: 200}\n"
    "  stream: {kind: lengths, prompt: {kind: uniform, min: 50, max: 400}, output: {kind: fixed, value: 50}}\n";

result::RunResult ran(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  const auto scenario = scenario_of(yaml, overrides);
  REQUIRE(scenario);
  return run_on_event_queue(*scenario);
}

double joules(const result::EnergyResult& energy, const std::string& component) {
  for (const auto& [name, value] : energy.joules)
    if (name == component) return value;
  return 0;
}

}  // namespace

// Whatever the number of stages: 16.05 GB of weights are read once for a token, at 1 TB/s, and 8,192 bytes are sent
// from each stage to the next in 10 us.
TEST_CASE("a batch alone passes the stages of a pipeline in the time of one device, and the sends between them") {
  const auto with = [](int stages) {
    return ran(R"(schema: scenario/1
model: llama-3.1-8b
hardware:
  devices: [{kind: roofline, name: chip, accuracy: made up, peak_bf16: 1e30 flop/s, memory_bandwidth: 1 TB/s, memory_capacity: 80 GB,
             compute_efficiency: 1, attention_efficiency: 1, memory_efficiency: 1, per_operator: 0 s, per_step: 0 s, per_request: 0 s,
             tdp: 1000000 W, idle_power: 100 W, compute_energy: 1 pJ/flop, memory_energy: 10 pJ/bit, links: {bandwidth: 1e30 B/s, latency: 10 us}}]
serving: {pipeline_parallel: 1, batcher: {policy: vllm_v1, async_scheduling: false}}
workload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, value: 1}, output: {kind: fixed, value: 101}}}
)",
               {"serving.pipeline_parallel=" + std::to_string(stages),
                "hardware.devices[chip].count=" + std::to_string(stages)});
  };
  const result::RunResult one = with(1);
  const double tpot = one.latency["tpot_s"]->mean;
  CHECK(tpot == approx(0.01503).epsilon(0.01));
  for (const int stages : {2, 5, 8}) {
    CAPTURE(stages);
    const result::RunResult all = with(stages);
    CHECK(all.latency["tpot_s"]->mean == approx(tpot + (stages - 1) * 10e-6).epsilon(1e-9));
    for (const char* component : {"compute", "memory"})
      CHECK(joules(all.overall.energy, component) == approx(joules(one.overall.energy, component)).epsilon(1e-9));
    CHECK(all.work.flops == approx(one.work.flops).epsilon(1e-9));
  }
}

TEST_CASE("four streams share four stages: faster, with the same devices, memory and standing power") {
  const result::RunResult alone = ran(kStages), shared = ran(kStages, {"serving.pipeline_batches=4"});
  CHECK_FALSE(alone.latency["bubble_s"]);
  REQUIRE(shared.latency["bubble_s"]);
  CHECK(shared.latency["bubble_s"]->count == 200);
  CHECK(shared.latency["bubble_s"]->mean > 0);
  CHECK(alone.simulated_s / shared.simulated_s > 2);
  CHECK(alone.simulated_s / shared.simulated_s <= 4);
  CHECK(shared.kv.blocks == alone.kv.blocks / 4 * 4);
  CHECK(shared.devices == 4);
  // What devices draw when idle counts once, not for each stream.
  CHECK(joules(shared.overall.energy, "static") / shared.simulated_s ==
        approx(joules(alone.overall.energy, "static") / alone.simulated_s).epsilon(1e-9));
  // A stage is busy for a share of the time, and the families of the steps sum to what one of them did.
  REQUIRE(shared.utilisation.size() == 1);
  CHECK(shared.utilisation[0].busy <= 1);
  REQUIRE(shared.breakdown.steps.size() == 1);
  CHECK(shared.breakdown.steps[0].seconds == approx(shared.utilisation[0].busy * shared.simulated_s).epsilon(1e-9));
  // The same work is done: more, smaller batches read the weights more often, but compute as much.
  CHECK(shared.tokens.computed == alone.tokens.computed);
  CHECK(shared.tokens.emitted == alone.tokens.emitted);
}

// Eight streams want four stages: none idles, wherever a window cuts the steps that wait for one another.
TEST_CASE("stages that are wanted all the time are busy for all of any window, and never for longer") {
  const std::vector<std::string> wanted = {"serving.pipeline_batches=8", "workload.requests=400",
                                           "workload.arrivals={kind: closed_loop, users: 16}"};
  for (const char* window : {"from: 2 s, to: 2.005 s", "from: 2 s, to: 2.03 s", "from: 2.01 s, to: 4 s"}) {
    const std::string where = window;
    CAPTURE(where);
    std::vector<std::string> cut = wanted;
    cut.push_back(std::string("window={rule: between, ") + window + "}");
    const result::RunResult run = ran(kStages, cut);
    REQUIRE(run.utilisation.size() == 1);
    CHECK(run.utilisation[0].busy <= 1 + 1e-9);
    CHECK(run.utilisation[0].busy > 0.99999);  // a stream is late now and then, as its prompts are longer
  }
}

TEST_CASE("streams of a pipeline give the same bytes under both kernels") {
  const auto scenario =
      scenario_of(kStages, {"serving.pipeline_batches=3", "serving.pipeline_chunks=true",
                            "serving.batcher={policy: sglang, chunked_prefill_size: 128}",
                            "workload.arrivals={kind: poisson, rate: 40 /s}", "workload.requests=200"});
  REQUIRE(scenario);
  const std::string json = json_on_simgrid(*scenario);
  CHECK_FALSE(json.empty());
  CHECK(json == result::to_json(run_on_event_queue(*scenario)));
}

TEST_CASE("expert bytes are of all devices, and none of a dense model") {
  const std::string prompt =
      "schema: scenario/1\n"
      "model: qwen3-30b-a3b\n"
      "hardware:\n"
      "  devices: [{preset: h100-sxm, count: 2}]\n"
      "serving:\n"
      "  tensor_parallel: 2\n"
      "  batcher: {policy: layered}\n"
      "workload:\n"
      "  arrivals: {kind: burst, programs: 1}\n"
      "  stream: {kind: lengths, prompt: {kind: fixed, value: 8192}, output: {kind: fixed, value: 1}}\n";
  // 48 layers of 128 experts of 3 x 2,048 x 768 weights of 2 bytes, of which 8,192 tokens touch 99.9 %.
  CHECK(ran(prompt).work.expert_bytes == approx(0.999 * 57.982e9).epsilon(1e-4));
  CHECK(ran(prompt, {"model.preset=qwen3-8b"}).work.expert_bytes == 0);
}
