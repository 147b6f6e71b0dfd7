// SPDX-License-Identifier: Apache-2.0
// Speculative decoding in whole scenarios.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "models/speculation.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::holds;
using llmscape::testing::mistakes;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

std::string scenario(const std::string& speculation, const std::string& more_models = "") {
  return "schema: scenario/1\n"
         "model: llama-3.1-8b\n" +
         more_models +
         "hardware: {devices: [{preset: h100-sxm, count: 1}]}\n"
         "serving: {max_model_len: 4096" +
         speculation +
         "}\n"
         "workload: {requests: 20, arrivals: {kind: poisson, rate: 2 /s}, stream: {kind: lengths, prompt: {kind: "
         "fixed, value: 200}, output: {kind: fixed, value: 2001}}}\n";
}

std::string speculate(const std::string& draft = "") {
  return ", speculation: {tokens: 4, acceptance: 0.8" + draft + "}";
}

}  // namespace

TEST_CASE("a result tells how many tokens a pass answered, and they come faster by that") {
  const std::vector<std::string> alone = {"workload.arrivals.rate=0.005 /s"};
  const auto plain = run_on_event_queue(*scenario_of(scenario(""), alone));
  const auto faster = run_on_event_queue(*scenario_of(scenario(speculate()), alone));
  CHECK_FALSE(plain.speculation);
  REQUIRE(faster.speculation);
  CHECK(faster.speculation->tokens_per_pass == doctest::Approx(models::tokens_per_pass(4, 0.8)).epsilon(0.01));
  CHECK(faster.tokens.emitted == 20 * 2001);
  CHECK(faster.itl_s->count == 20 * 2000);
  CHECK(faster.itl_s->p50 == 0);  // most tokens come with the one before them
  // One user at a time: weights are read once for all tokens, and a pass costs little more than a step.
  const double gain = plain.tpot_s->mean / faster.tpot_s->mean;
  CHECK(gain < 3.3616);
  CHECK(gain > 2.8);
}

TEST_CASE("no drafts change no byte of a result, and looking ahead changes none of one with drafts") {
  const auto json = [](const std::string& yaml, std::int64_t lookahead) {
    auto result = nlohmann::json::parse(run::to_json(run_on_event_queue(*scenario_of(yaml), lookahead)));
    return result;
  };
  auto none = json(scenario(", speculation: {tokens: 0, acceptance: 0.8}"), 64);
  CHECK(none.erase("speculation") == 1);
  CHECK(none == json(scenario(""), 64));
  CHECK(json(scenario(speculate()), 64) == json(scenario(speculate()), 0));
}

TEST_CASE("a draft model on the same devices takes weights and KV entries from their memory, heads take none") {
  const auto blocks = [](const std::string& speculation) {
    return static_cast<double>(run_on_event_queue(*scenario_of(scenario(speculation))).kv.blocks);
  };
  const double plain = blocks("");
  CHECK(blocks(speculate(", draft: {share: 0.05}")) == plain);
  // 1.24e9 parameters of 2 bytes; 32 KiB of KV a token beside 128 KiB.
  const double weights = 2 * 1.2358e9, tokens = (plain * 16 * 131072 - weights) / (131072 + 32768);
  CHECK(blocks(speculate(", draft: {model: llama-3.2-1b}")) == doctest::Approx(tokens / 16).epsilon(0.001));
}

TEST_CASE("drafts cost what makes them: looked up, by heads, by a model here, by a model on a phone") {
  const auto tpot = [](const std::string& draft) {
    return run_on_event_queue(*scenario_of(scenario(speculate(draft)))).tpot_s->mean;
  };
  const double looked_up = tpot("");
  CHECK(tpot(", draft: {share: 0.05}") == doctest::Approx(1.05 * looked_up).epsilon(0.03));
  const double by_model = tpot(", draft: {model: llama-3.2-1b}");
  CHECK(by_model > 1.2 * looked_up);
  // The round trip alone is 30 ms a pass.
  CHECK(tpot(", draft: {model: llama-3.2-1b, device: snapdragon-8-elite, link: 5g}") >
        looked_up + 0.030 / models::tokens_per_pass(4, 0.8));
}

TEST_CASE("one of the scenario's models may do nothing but draft") {
  const std::string models = "models: {small: {preset: llama-3.2-1b, weights: int4}}\n";
  const auto result = run_on_event_queue(*scenario_of(scenario(speculate(", draft: {model: small}"), models)));
  CHECK(result.requests.completed == 20);
  CHECK(holds(mistakes(scenario(speculate(), models)), "no pool serves 'small'"));
}

TEST_CASE("70B on 16 sockets reaches with five drafts what its memory roof does not allow without") {
  const std::string yaml =
      "schema: scenario/1\n"
      "model: llama-3.1-70b\n"
      "hardware: {devices: [{preset: sn40l, count: 16}]}\n"
      "serving: {tensor_parallel: 16, max_model_len: 8192}\n"
      "workload: {requests: 1, arrivals: {kind: poisson, rate: 1 /s}, stream: {kind: lengths, prompt: {kind: fixed, "
      "value: 16}, output: {kind: fixed, value: 2001}}}\n";
  std::string drafted = yaml;
  drafted.insert(drafted.find(", max_model_len"), ", speculation: {tokens: 5, acceptance: 0.8}");
  CHECK(1 / run_on_event_queue(*scenario_of(yaml)).tpot_s->mean < 181);  // 141 GB at 25.6 TB/s
  CHECK(1 / run_on_event_queue(*scenario_of(drafted)).tpot_s->mean > 457);
}

TEST_CASE("mistakes in speculation are told") {
  CHECK(holds(mistakes(scenario(", speculation: {tokens: 4}")), "'acceptance' is required"));
  CHECK(holds(mistakes(scenario(speculate(", draft: {model: llama-3.2-1x}"))), "llama-3.2-1x"));
  CHECK(holds(mistakes(scenario(speculate(", draft: {share: 0.1, model: llama-3.2-1b}"))), "not of both"));
  CHECK(holds(mistakes(scenario(speculate(", draft: {model: llama-3.2-1b, device: snapdragon-8-elite}"))),
              "go together"));
  CHECK(holds(mistakes(scenario(", batcher: {policy: vllm_v1, max_num_batched_tokens: 1024}" + speculate())),
              "more than its budget"));
  CHECK(holds(mistakes(scenario(speculate(", draft: {model: llama-3.1-405b}"))), "cannot make drafts: 81"));
}
