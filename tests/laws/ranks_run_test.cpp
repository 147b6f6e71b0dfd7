// SPDX-License-Identifier: Apache-2.0
// Data-parallel ranks: each has its own sequences; those of a mixture share experts and step together.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using namespace llmscape::testing;
using llmscape::testing::approx;

namespace {

// Bytes move at 1 TB/s in a device and at 100 GB/s between two; nothing else takes time.
std::string yaml_of(const std::string& model, int devices, const std::string& serving, const std::string& workload) {
  return fmt::format(R"(schema: scenario/1
model: {}
hardware:
  devices:
    - kind: roofline
      name: plain
      accuracy: made up
      count: {}
      peak_bf16: {{value: 100 Pflop/s, tag: assumed, source: test}}
      memory_bandwidth: {{value: 1 TB/s, tag: assumed, source: test}}
      memory_capacity: {{value: 100 GB, tag: assumed, source: test}}
      compute_efficiency: {{value: 1, tag: assumed, source: test}}
      attention_efficiency: {{value: 1, tag: assumed, source: test}}
      memory_efficiency: {{value: 1, tag: assumed, source: test}}
      per_operator: {{value: 0 s, tag: assumed, source: test}}
      per_step: {{value: 0 s, tag: assumed, source: test}}
      per_request: {{value: 0 s, tag: assumed, source: test}}
      links: {{bandwidth: {{value: 100 GB/s, tag: assumed, source: test}}, latency: {{value: 0 s, tag: assumed, source: test}}}}
      tdp: {{value: 1 kW, tag: assumed, source: test}}
      idle_power: {{value: 1 W, tag: assumed, source: test}}
      compute_energy: {{value: 0 pJ/flop, tag: assumed, source: test}}
      memory_energy: {{value: 0 pJ/bit, tag: assumed, source: test}}
serving: {{{}}}
workload: {}
)",
                     model, devices, serving, workload);
}

std::string lengths(const std::string& arrivals, int prompt, int output) {
  return fmt::format(
      "{{tokens: random, arrivals: {}, stream: {{kind: lengths, prompt: {{kind: fixed, value: {}}}, output: {{kind: "
      "fixed, value: {}}}}}}}",
      arrivals, prompt, output);
}

result::RunResult result_of(const std::string& yaml) {
  const auto read = scenario_of(yaml);
  REQUIRE(read);
  return run_on_event_queue(*read);
}

// Qwen3-30B-A3B: 48 layers, hidden 2,048, 32 query and 4 KV heads of 128, 128 experts of width 768, 8 a token,
// vocabulary 151,936. Bytes of one decode step of `tokens` sequences on each of `ranks`, with 16-bit numbers: weights
// of the attention and of the experts held (all of them touched but for (1 - 8/128)^tokens), activations into and out
// of each GEMM, element-wise kernels by their formulas (norm 4 T h, add 6 T h, gated activation 6 T f, rope and norm of
// queries and keys 4 T (32 + 4) 128 each), KV entries, and the head; then what each rank sends to gather the hidden
// states and to scatter the sums.
double step_by_hand(double ranks, double tokens, double context) {
  const double h = 2048, inner = 4096, qkv = 5120, experts = 128, width = 768, layers = 48, vocabulary = 151936;
  const double touched = experts / ranks * (1 - std::pow(1 - 8 / experts, ranks * tokens));
  const double rows = 8 * tokens;  // of ranks x tokens x 8, those of this rank's experts
  const double attention = 2 * (h * qkv + inner * h) + 2 * tokens * (h + qkv + inner + h);
  const double router = 2 * (h * experts + tokens * (h + experts)) + 4 * tokens * experts;
  const double expert = 2 * touched * 3 * h * width + 2 * rows * (h + 2 * width + width + h) + 6 * rows * width +
                        2 * 2 * (rows + tokens) * h;
  const double elementwise = tokens * (2 * 4 * h + 2 * 6 * h + 2 * 4 * 36 * 128);
  const double kv = tokens * context * 2 * 4 * 128 * 2;
  const double head = 2 * (h * vocabulary + tokens * (h + vocabulary)) + 4 * tokens * vocabulary;
  const double sent = 2 * (ranks - 1) * tokens * h * 2;
  return (layers * (attention + router + expert + elementwise + kv) + head) / 1e12 + layers * sent / 1e11;
}

}  // namespace

TEST_CASE("how long is a step of N ranks? the slowest attention, all tokens' experts over N, and the exchange") {
  for (const int ranks : {1, 2, 8}) {
    CAPTURE(ranks);
    const result::RunResult result = result_of(yaml_of(
        "qwen3-30b-a3b", ranks,
        fmt::format("data_parallel: {0}, expert_parallel: {0}, batcher: {{policy: vllm_v1, max_num_seqs: 64}}", ranks),
        lengths(fmt::format("{{kind: burst, programs: {}}}", 64 * ranks), 1, 101)));
    REQUIRE(result.latency["tpot_s"]);
    CHECK(result.latency["tpot_s"]->mean == approx(step_by_hand(ranks, 64, 51.5)).epsilon(0.01));
    CHECK(result.latency["tpot_s"]->max == approx(result.latency["tpot_s"]->mean).epsilon(0.001));  // in lock step
    CHECK(result.replicas == ranks);
  }
}

TEST_CASE("do N ranks answer what N times the users ask, below half the load?") {
  for (const int ranks : {1, 2, 8}) {
    CAPTURE(ranks);
    // A rank alone decodes 64 sequences in 13 ms: 5,000 tokens/s, 100 answers of 50 tokens; asked for 40.
    const result::RunResult result = result_of(yaml_of(
        "qwen3-30b-a3b", ranks, fmt::format("data_parallel: {0}, expert_parallel: {0}", ranks),
        lengths(fmt::format("{{kind: periodic, rate: {} /s}}, requests: {}", 40 * ranks, 4000 * ranks), 1, 50)));
    CHECK(result.requests.completed == 4000 * ranks);
    CHECK(result.throughput.requests_per_s == approx(40 * ranks).epsilon(0.01));
  }
}

TEST_CASE("are N ranks of a dense model N replicas, byte for byte?") {
  const auto ranks = [](const std::string& plan) {
    return result::to_json(result_of(yaml_of("llama-3.1-8b", 4, plan + "router: least_tokens",
                                             lengths("{kind: poisson, rate: 60 /s}, requests: 500", 700, 60))));
  };
  CHECK(ranks("data_parallel: 4, ") == ranks(""));
}

TEST_CASE("does one rank's long prompt delay the tokens of the others?") {
  const auto longest_gap = [](const std::string& plan) {
    return result_of(yaml_of("qwen3-30b-a3b", 2, plan + "router: round_robin",
                             lengths("{kind: periodic, rate: 20 /s}, requests: 2", 8000, 60)))
        .latency["itl_s"]
        ->max;
  };
  // 8,000 tokens touch every expert of 48 layers, 58 GB, where one token touches 8 of 128.
  CHECK(longest_gap("data_parallel: 2, expert_parallel: 2, ") > 5 * longest_gap(""));
}

// DeepSeek-V2-Lite: 26 routed layers, hidden 2,048, 64 experts, 6 a token. A token goes to 8 (1 - C(56, 6) / C(64, 6))
// = 4.535 of 8 ranks and back, 2 bytes an element each time, and 1/8 of that stays: 4,007 x 2,048 x 4.535 x 4 x 26 x
// 7/8 x 80 pJ = 0.271 J for a prompt of 4,000 tokens and a dummy on each of the other ranks.
TEST_CASE("an all-to-all takes the joules of the tokens that there are, on whichever rank they are") {
  const auto joules = [](int programs, int prompt) {
    std::string yaml = yaml_of("deepseek-v2-lite", 8,
                               "data_parallel: 8, expert_parallel: 8, expert_exchange: all_to_all, router: round_robin",
                               lengths(fmt::format("{{kind: burst, programs: {}}}", programs), prompt, 1));
    const std::string before = "serving:";
    yaml.insert(yaml.find(before), "      link_energy: 10 pJ/bit\n");
    const result::RunResult result = result_of(yaml);
    REQUIRE(result.energy);
    return result.energy->total_joules - 8 * result.simulated_s;  // 1 W a device at rest, and nothing else
  };
  double none = 1;  // no expert of a token on a rank
  for (int i = 0; i < 6; ++i) none *= (56.0 - i) / (64 - i);
  const double of_token = 2048 * 8 * (1 - none) * 4 * 26 * 7 / 8 * 80e-12;
  CHECK(joules(1, 4000) == approx(4007 * of_token).epsilon(1e-9));
  CHECK(joules(8, 500) == approx(4000 * of_token).epsilon(1e-9));
}

TEST_CASE("joules and devices of ranks are counted once") {
  const auto joules = [](int ranks) {
    const result::RunResult result =
        result_of(yaml_of("qwen3-30b-a3b", ranks, fmt::format("data_parallel: {0}, expert_parallel: {0}", ranks),
                          lengths(fmt::format("{{kind: burst, programs: {}}}", 8 * ranks), 1, 20)));
    CHECK(result.devices == ranks);
    REQUIRE(result.energy);
    return result.energy->total_joules / result.simulated_s;  // nothing but idle power here: 1 W a device
  };
  CHECK(joules(1) == approx(1));
  CHECK(joules(8) == approx(8));
}
