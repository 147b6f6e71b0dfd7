// SPDX-License-Identifier: Apache-2.0
// Speculative decoding in whole scenarios.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/speculation.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

namespace speculation_test {

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::holds;
using llmscape::testing::json_on_simgrid;
using llmscape::testing::mistakes;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

std::string yaml_of(const std::string& speculation, const std::string& more_models = "") {
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
  const auto plain = run_on_event_queue(*scenario_of(yaml_of(""), alone));
  const auto faster = run_on_event_queue(*scenario_of(yaml_of(speculate()), alone));
  CHECK_FALSE(plain.speculation);
  REQUIRE(faster.speculation);
  CHECK(faster.speculation->tokens_per_pass == approx(models::tokens_per_pass(4, 0.8)).epsilon(0.01));
  CHECK(faster.tokens.emitted == 20 * 2001);
  CHECK(faster.latency["itl_s"]->count == 20 * 2000);
  CHECK(faster.latency["itl_s"]->p50 == 0);  // most tokens come with the one before them
  // One user at a time: weights are read once for all tokens, and a pass costs little more than a step.
  const double gain = plain.latency["tpot_s"]->mean / faster.latency["tpot_s"]->mean;
  CHECK(gain < 3.3616);
  CHECK(gain > 2.8);
}

TEST_CASE("no drafts change no byte of a result, and looking ahead changes none of one with drafts") {
  const auto json = [](const std::string& yaml, std::int64_t lookahead) {
    auto result = nlohmann::json::parse(result::to_json(run_on_event_queue(*scenario_of(yaml), lookahead)));
    return result;
  };
  auto none = json(yaml_of(", speculation: {tokens: 0, acceptance: 0.8}"), 64);
  CHECK(none.erase("speculation") == 1);
  CHECK(none == json(yaml_of(""), 64));
  // Nor does what would make drafts add anything: a sweep of 'tokens' starts at its baseline.
  for (const char* made : {"{share: 0.1}", "{model: llama-3.2-1b}"}) {
    CAPTURE(made);
    auto idle = json(yaml_of(std::string(", speculation: {tokens: 0, acceptance: 0.8, draft: ") + made + "}"), 64);
    CHECK(idle.erase("speculation") == 1);
    CHECK(idle == json(yaml_of(""), 64));
  }
  CHECK(json(yaml_of(speculate()), 64) == json(yaml_of(speculate()), 0));
}

TEST_CASE("a draft model on the same devices takes weights and KV entries from their memory, heads take weights") {
  const auto blocks = [](const std::string& speculation) {
    return static_cast<double>(run_on_event_queue(*scenario_of(yaml_of(speculation))).kv.blocks);
  };
  const double plain = blocks("");
  // 0.05 of 8.030e9 parameters of 2 bytes: 803 MB, of blocks of 16 x 131,072 B 382.9.
  CHECK(blocks(speculate(", draft: {share: 0.05}")) ==
        approx(plain - 0.05 * 2 * 8.0303e9 / (16 * 131072)).epsilon(3e-5));
  CHECK(blocks(speculate(", draft: {share: 0}")) == plain);
  // 1.24e9 parameters of 2 bytes; 32 KiB of KV a token beside 128 KiB.
  const double weights = 2 * 1.2358e9, tokens = (plain * 16 * 131072 - weights) / (131072 + 32768);
  CHECK(blocks(speculate(", draft: {model: llama-3.2-1b}")) == approx(tokens / 16).epsilon(0.001));
}

TEST_CASE("drafts cost what makes them: looked up, by heads, by a model here, by a model on a phone") {
  const auto tpot = [](const std::string& draft) {
    return run_on_event_queue(*scenario_of(yaml_of(speculate(draft)))).latency["tpot_s"]->mean;
  };
  const double looked_up = tpot("");
  CHECK(tpot(", draft: {share: 0.05}") == approx(1.05 * looked_up).epsilon(0.03));
  const double by_model = tpot(", draft: {model: llama-3.2-1b}");
  CHECK(by_model > 1.2 * looked_up);
  // The round trip alone is 30 ms a pass.
  CHECK(tpot(", draft: {model: llama-3.2-1b, device: snapdragon-8-elite, link: 5g, deadline: 1 s}") >
        looked_up + 0.030 / models::tokens_per_pass(4, 0.8));
}

TEST_CASE("nobody waits for a phone's drafts where they cost more than they bring, unless told to") {
  const std::string phone = ", draft: {model: llama-3.2-1b, device: snapdragon-8-elite, link: 5g";
  const std::string same_batcher = ", batcher: {policy: vllm_v1, async_scheduling: false}";
  const auto plain = run_on_event_queue(*scenario_of(yaml_of(same_batcher)));
  const auto by_default = run_on_event_queue(*scenario_of(yaml_of(same_batcher + speculate(phone + "}"))));
  // 2.47 GB of weights a draft at 77 GB/s at the most are 128 ms for four, beside 3.3616 tokens in some 7 ms each.
  REQUIRE(by_default.speculation);
  CHECK(by_default.speculation->late_share == 1.0);
  CHECK(by_default.speculation->tokens_per_pass == 1);
  CHECK(by_default.latency["tpot_s"]->mean == plain.latency["tpot_s"]->mean);
  CHECK(by_default.simulated_s == plain.simulated_s);
  // Steps with late drafts are priced whole, others as runs: joules are summed in another order.
  CHECK(by_default.energy->total_joules == approx(plain.energy->total_joules).epsilon(1e-12));
  REQUIRE(by_default.warnings.size() == plain.warnings.size() + 1);
  CHECK(holds(by_default.warnings.back(), "no draft of a user's device came in time"));
  const auto patient = run_on_event_queue(*scenario_of(yaml_of(same_batcher + speculate(phone + ", deadline: 10 s}"))));
  CHECK(patient.speculation->late_share == 0.0);
  CHECK(patient.latency["tpot_s"]->mean > 5 * plain.latency["tpot_s"]->mean);
  CHECK(patient.warnings.size() == plain.warnings.size());
  CHECK_FALSE(run_on_event_queue(*scenario_of(yaml_of(speculate()))).speculation->late_share);
}

TEST_CASE("a user who is alone waits for drafts of a device nearby exactly where they bring the answer sooner") {
  const auto tpot = [](int tokens, const std::string& model, const std::string& deadline) {
    const std::string draft =
        ", draft: {model: " + model + ", device: rtx-4090, link: {uplink: 125 MB/s, latency: 0.5 ms}" + deadline + "}";
    return run_on_event_queue(*scenario_of(yaml_of(", speculation: {tokens: " + std::to_string(tokens) +
                                                   ", acceptance: 0.8" + draft + "}"),
                                           {"workload.arrivals.rate=0.005 /s", "workload.requests=3"}))
        .latency["tpot_s"]
        ->mean;
  };
  // 2.47 GB at 1.01 TB/s are 2.5 ms a draft at the least, and (3.689 - 1) of five or (2.44 - 1) passes of some 6 ms the
  // gain.
  struct Case {
    int tokens;
    const char* model;
    bool pays;
  };
  for (const Case& c : {Case{5, "llama-3.2-1b", false}, Case{2, "llama-3.2-1b", true}, Case{4, "qwen3-0.6b", true}}) {
    CAPTURE(c.model);
    CAPTURE(c.tokens);
    const double without = tpot(c.tokens, c.model, ", deadline: 0 s"),
                 with = tpot(c.tokens, c.model, ", deadline: 1 s");
    CHECK((with < without) == c.pays);
    CHECK(tpot(c.tokens, c.model, "") == std::min(with, without));
  }
}

TEST_CASE("drafts that become late on the way: both clocks, and looking ahead or not, give the same bytes") {
  const std::vector<std::string> mixed = {
      "workload.stream={kind: lengths, prompt: {kind: uniform, min: 100, max: 2500}, output: {kind: fixed, value: "
      "300}}"};
  const auto late = scenario_of(
      yaml_of(speculate(", draft: {model: llama-3.2-1b, device: snapdragon-8-elite, link: 5g, deadline: 295 ms}")),
      mixed);
  const auto result = run_on_event_queue(*late);
  REQUIRE(result.speculation);
  CHECK(*result.speculation->late_share > 0.3);
  CHECK(*result.speculation->late_share < 0.95);
  CHECK(result.tokens.emitted == 20 * 300);
  const std::string json = result::to_json(result);
  CHECK(json == result::to_json(run_on_event_queue(*late, 0)));
  CHECK(json == json_on_simgrid(*late));
  CHECK(json == json_on_simgrid(*late, 0));
}

namespace {

// But for rounding: steps with late drafts are priced whole, others as runs.
bool alike(const nlohmann::json& a, const nlohmann::json& b) {
  if (a.is_number_float() && b.is_number_float()) return a.get<double>() == approx(b.get<double>()).epsilon(1e-9);
  if (a.type() != b.type() || a.size() != b.size()) return false;
  if (a.is_object())
    return std::ranges::all_of(
        a.items(), [&](const auto& item) { return b.contains(item.key()) && alike(item.value(), b.at(item.key())); });
  if (a.is_array()) return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return alike(x, y); });
  return a == b;
}

}  // namespace

TEST_CASE("every batcher: no time to wait is no speculation, and looking ahead changes no byte of late drafts") {
  const auto json = [](const std::string& policy, const std::string& speculation, std::int64_t lookahead) {
    const std::vector<std::string> short_answers = {"workload.requests=12", "serving.kv_blocks=600",
                                                    "workload.stream={kind: lengths, prompt: {kind: uniform, min: 100, "
                                                    "max: 2500}, output: {kind: fixed, value: 150}}"};
    auto result = nlohmann::json::parse(result::to_json(run_on_event_queue(
        *scenario_of(yaml_of(", batcher: {policy: " + policy + "}" + speculation), short_answers), lookahead)));
    result.erase("warnings");
    return result;
  };
  const auto waiting = [](const std::string& deadline) {
    return speculate(", draft: {model: llama-3.2-1b, device: snapdragon-8-elite, link: 5g, deadline: " + deadline +
                     "}");
  };
  for (const std::string policy : {"vllm_v1, async_scheduling: false", "layered, async_scheduling: false", "streaming",
                                   "vllm_v0", "orca", "sarathi", "trtllm", "sglang", "static"}) {
    CAPTURE(policy);
    auto zero = json(policy, waiting("0 s"), 64);
    CHECK(zero.at("speculation").at("late_share") == 1);
    zero.erase("speculation");
    CHECK(alike(zero, json(policy, "", 64)));
    const auto some = json(policy, waiting("295 ms"), 64);
    CHECK(some.at("speculation").at("late_share") > 0.1);
    CHECK(some.at("speculation").at("late_share") < 0.99);
    CHECK(some.at("requests").at("completed") == 12);
    CHECK(some == json(policy, waiting("295 ms"), 0));
  }
}

TEST_CASE("a run that stops in the midst of late drafts has counted what it answered") {
  const auto result = run_on_event_queue(*scenario_of(
      yaml_of(speculate(", draft: {model: llama-3.2-1b, device: snapdragon-8-elite, link: 5g, deadline: 292 ms}")),
      {"horizon=60 s"}));
  REQUIRE(result.speculation);
  CHECK(*result.speculation->late_share > 0);
  CHECK(*result.speculation->late_share < 1);
  CHECK(result.requests.completed < 20);
}

TEST_CASE("one of the scenario's models may do nothing but draft") {
  const std::string models = "models: {small: {preset: llama-3.2-1b, weights: int4}}\n";
  const auto result = run_on_event_queue(*scenario_of(yaml_of(speculate(", draft: {model: small}"), models)));
  CHECK(result.requests.completed == 20);
  CHECK(holds(mistakes(yaml_of(speculate(), models)), "no pool serves 'small'"));
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
  CHECK(1 / run_on_event_queue(*scenario_of(yaml)).latency["tpot_s"]->mean < 181);  // 141 GB at 25.6 TB/s
  CHECK(1 / run_on_event_queue(*scenario_of(drafted)).latency["tpot_s"]->mean > 457);
}

// Llama-3.1-8B takes 131,072 bytes of KV a token, Llama-3.2-1B 32,768: 0.9 of 4 GB hold 27,465 of the one, 1,716
// blocks, or 21,972 of both, 1,373 blocks.
TEST_CASE("where attention is apart from weights, what makes drafts takes memory beside the weights") {
  const auto part = [](const std::string& name, const std::string& memory) {
    return "{kind: roofline, name: " + name + ", memory_capacity: " + memory +
           ", accuracy: by hand, peak_bf16: 100 Tflop/s, memory_bandwidth: 1 TB/s, compute_efficiency: 1, "
           "attention_efficiency: 1, memory_efficiency: 1, per_operator: 0 s, per_step: 0 s, per_request: 0 s, tdp: 1 "
           "kW, idle_power: 100 W, compute_energy: 1 pJ/flop, memory_energy: 10 pJ/bit}";
  };
  const auto offload = [&](const std::string& speculation, const std::string& weights = "500 GB") {
    return "schema: scenario/1\n"
           "model: llama-3.1-8b\n"
           "hardware: {devices: [{kind: attention_offload, name: apart, attention: " +
           part("attention", "4 GB") + ", weights: " + part("weights", weights) +
           ", link: {bandwidth: 100 GB/s, latency: 0 s, energy: 10 pJ/bit}}]}\n"
           "serving: {max_model_len: 4096" +
           speculation +
           "}\n"
           "workload: {requests: 1, arrivals: {kind: poisson, rate: 1 /s}, stream: {kind: lengths, prompt: {kind: "
           "fixed, "
           "value: 100}, output: {kind: fixed, value: 5}}}\n";
  };
  const auto blocks = [&](const std::string& speculation) {
    return run_on_event_queue(*scenario_of(offload(speculation))).kv.blocks;
  };
  CHECK(blocks("") == 1716);
  CHECK(blocks(speculate(", draft: {share: 0.2}")) == 1716);
  CHECK(blocks(speculate(", draft: {model: llama-3.2-1b}")) == 1373);
  // 16.06 GB of weights in 0.9 of 18 GB.
  CHECK(scenario_of(offload("", "18 GB")));
  CHECK(holds(mistakes(offload(speculate(", draft: {share: 0.2}"), "18 GB")), "no memory for KV entries beside"));
}

TEST_CASE("mistakes in speculation are told") {
  CHECK(holds(mistakes(yaml_of(", speculation: {tokens: 4}")), "'acceptance' is required"));
  CHECK(holds(mistakes(yaml_of(speculate(", draft: {model: llama-3.2-1x}"))), "llama-3.2-1x"));
  CHECK(holds(mistakes(yaml_of(speculate(", draft: {share: 0.1, model: llama-3.2-1b}"))), "not of both"));
  CHECK(
      holds(mistakes(yaml_of(speculate(", draft: {model: llama-3.2-1b, device: snapdragon-8-elite}"))), "go together"));
  CHECK(holds(mistakes(yaml_of(speculate(", draft: {model: llama-3.2-1b, deadline: 20 ms}"))), "there is none"));
  CHECK(holds(mistakes(yaml_of(", batcher: {policy: vllm_v1, max_num_batched_tokens: 1024}" + speculate())),
              "more than its budget"));
  CHECK(holds(mistakes(yaml_of(speculate(", draft: {model: llama-3.1-405b}"))), "cannot make drafts: 81"));
}

}  // namespace speculation_test
