// SPDX-License-Identifier: Apache-2.0
// Low-rank adapters in whole scenarios.
#include <doctest/doctest.h>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::holds;
using llmscape::testing::mistakes;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

// Rank 16 on q, k, v and o of an 8B: 32 layers x 16 x (2 x (4096 + 4096) + 2 x (4096 + 1024)) parameters of 2 bytes.
constexpr double kAdapter = 32.0 * 16 * (2 * 8192 + 2 * 5120) * 2;

std::string yaml_of(const std::string& lora, const std::string& device = "h100-sxm") {
  return "schema: scenario/1\n"
         "model: llama-3.1-8b\n"
         "hardware: {devices: [{preset: " +
         device +
         ", count: 1}]}\n"
         "serving: {max_model_len: 4096" +
         lora +
         "}\n"
         "workload: {requests: 200, arrivals: {kind: poisson, rate: 10 /s}, stream: {kind: lengths, prompt: {kind: "
         "fixed, value: 200}, output: {kind: fixed, value: 100}}}\n";
}

std::string lora(const std::string& more) {
  return ", lora: {rank: 16, targets: [q, k, v, o], adapters: 100, popularity: 1, load_bandwidth: 25 GB/s" + more + "}";
}

}  // namespace

TEST_CASE("resident adapters take their memory from the KV pool") {
  const auto blocks = [](const std::string& more) {
    return static_cast<double>(run_on_event_queue(*scenario_of(yaml_of(more))).kv.blocks);
  };
  const double plain = blocks(""), lost = 100 * kAdapter / (16 * 131072);
  CHECK(plain - blocks(lora("")) == approx(lost).epsilon(0.001));
  CHECK(plain - blocks(lora(", resident: 10")) == approx(lost / 10).epsilon(0.01));
}

TEST_CASE("each adapter is loaded once if all are resident, else again and again, for bytes over bandwidth") {
  const auto plain = run_on_event_queue(*scenario_of(yaml_of("")));
  const auto all = run_on_event_queue(*scenario_of(yaml_of(lora(""))));
  const auto few = run_on_event_queue(*scenario_of(yaml_of(lora(", resident: 16"))));
  CHECK_FALSE(plain.adapters);
  REQUIRE(all.adapters);
  REQUIRE(few.adapters);
  CHECK(all.adapters->loads <= 100);
  CHECK(all.adapters->loads > 30);
  CHECK(few.adapters->loads > all.adapters->loads);
  CHECK(few.adapters->load_s == approx(static_cast<double>(few.adapters->loads) * kAdapter / 25e9).epsilon(1e-9));
  CHECK(all.requests.completed == 200);
  CHECK(few.requests.completed == 200);
  CHECK(all.latency["tpot_s"]->mean > 1.01 * plain.latency["tpot_s"]->mean);  // thin products beside those of the model
}

TEST_CASE("steps that carry adapters are priced the same whether they were looked ahead at or not") {
  const auto json = [](std::int64_t lookahead) {
    return result::to_json(run_on_event_queue(*scenario_of(yaml_of(lora(", resident: 16"))), lookahead));
  };
  CHECK(json(64) == json(0));
}

TEST_CASE("resident models that take turns each keep adapters of their own") {
  const auto blocks = [](const std::string& more) {
    const auto scenario = scenario_of(
        "schema: scenario/1\nmodel: llama-3.1-8b\nmodels: {twin: llama-3.1-8b}\n"
        "hardware: {devices: [{name: gpu, preset: h100-sxm, count: 1}]}\n"
        "serving: {max_model_len: 4096, pools: [{devices: [gpu], models: [main, twin], take_turns: {resident: 2}" +
        more +
        "}]}\n"
        "workload: {requests: 1, arrivals: {kind: poisson, rate: 1 /s}, mixture: [{model: twin, stream: {kind: "
        "lengths, "
        "prompt: {kind: fixed, value: 100}, output: {kind: fixed, value: 2}}}]}\n");
    return static_cast<double>(run_on_event_queue(*scenario).kv.blocks);
  };
  // Two sets of 100 in all, out of the memory of both pools.
  CHECK(blocks("") - blocks(lora("")) == approx(2 * 100 * kAdapter / (16 * 131072)).epsilon(0.001));
}

TEST_CASE("streams of a pipeline hold a set of adapters each, and the user is told") {
  const auto warnings = [](const std::string& streams) {
    return scenario_of(
               "schema: scenario/1\nmodel: llama-3.1-8b\n"
               "hardware: {devices: [{name: gpu, preset: h100-sxm, count: 2}]}\n"
               "serving: {pipeline_parallel: 2" +
               streams + lora(", resident: 16") + "}\nworkload: {preset: chat-1k, requests: 1}\n")
        ->warnings;
  };
  CHECK(warnings("").empty());
  REQUIRE(warnings(", pipeline_batches: 2").size() == 1);
  CHECK(holds(warnings(", pipeline_batches: 2")[0], "each of its 2 streams of batches holds 16 adapters of its own"));
}

TEST_CASE("adapters that do not fit are what the message names") {
  const std::string many = mistakes(
      yaml_of(", lora: {rank: 16, targets: [q, k, v, o], adapters: 100000, popularity: 1, load_bandwidth: 25 GB/s}"));
  CAPTURE(many);
  // 100,000 of 27.26 MB.
  CHECK(holds(many, "weights 16.1 GB, 100000 adapters of lora 2726.3 GB, activations"));
  CHECK(holds(many, "a smaller lora.resident"));
}

TEST_CASE("mistakes in adapters are told") {
  CHECK(
      holds(mistakes(yaml_of(", lora: {rank: 16, targets: [], adapters: 4, popularity: 1}")), "adapters need targets"));
  CHECK(holds(mistakes(yaml_of(", lora: {rank: 16, targets: [q], adapters: 4}")), "'popularity' is required"));
  CHECK(holds(mistakes(yaml_of(lora(""), "sn40l")), "low-rank adapters"));
}
