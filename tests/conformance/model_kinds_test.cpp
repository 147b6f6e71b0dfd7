// SPDX-License-Identifier: Apache-2.0
// What a model keeps of a sequence (entries, states, budgets, unlike formats) goes through every batcher, router, fault
// and controller: they know none of it.
#include <doctest/doctest.h>

#include "sim/serving/router.hpp"
#include "tests/support/batchers.hpp"
#include "tests/support/scenario_run.hpp"

namespace model_kinds_test {

using namespace llmscape;
using llmscape::testing::batcher_of;
using llmscape::testing::holds;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::without_prefixes;

namespace {

struct Kind {
  std::string name, model;
  bool budget = false;  // needs a batcher whose sequences grow, and no prefixes
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"states and attention", "{preset: qwen3.5-35b-a3b, weights: fp8}"},
      {"layers whose heads differ, keys as values", "{preset: gemma-4-26b-a4b, weights: fp8}"},
      {"unlike formats", "{preset: llama-3.2-1b, kv: {keys: int8, values: int2, group: 64, zero_point: true}}"},
      {"a budget at the prompt's end", "{preset: llama-3.2-1b, token_plan: {policy: kv_budget, share: 0.3}}", true},
      {"a budget for each chunk",
       "{preset: llama-3.2-1b, token_plan: {policy: kv_budget, keep: 300, select: each_chunk, by_layer: [3, 1]}}",
       true},
      {"a ring", "{preset: llama-3.2-1b, token_plan: {policy: kv_budget, keep: 300, then: ring}}", true},
      {"a budget of latents in unlike layers", "{preset: deepseek-v2-lite, token_plan: {policy: kv_budget, keep: 300}}",
       true}};
  return all;
}

// 40 calls in bursts, in a pool where some of them wait.
std::string scenario(const Kind& kind, const std::string& serving, const std::string& rest = "", int devices = 2) {
  return "schema: scenario/1\nmodel: " + kind.model +
         "\nhardware: {devices: [{name: gpus, preset: h100-sxm, count: " + std::to_string(devices) +
         "}]}\nserving: {max_model_len: 2500, " + serving +
         "}\nworkload: {requests: 40, arrivals: {kind: gamma, rate: 30 /s, cv: 2}, stream: {kind: lengths, prompt: "
         "{kind: uniform, min: 1, max: 2000}, output: {kind: uniform, min: 1, max: 200}}}\n" +
         rest;
}

// Runs it step by step and ahead of the clock: every call is answered, the books are right (checked in every run), and
// both give the same bytes.
void check_served(const std::string& yaml) {
  const auto read = llmscape::testing::scenario_of(yaml);
  REQUIRE(read);
  const auto result = run_on_event_queue(*read);
  CHECK(result.requests.completed == 40);
  CHECK(result::to_json(run_on_event_queue(*read, 0)) == result::to_json(result));
}

}  // namespace

TEST_CASE("every batcher serves every kind of model, or says that sequences do not grow under it") {
  for (const auto& member : serving::batchers().members()) {
    for (const Kind& kind : kinds()) {
      CAPTURE(member.name);
      CAPTURE(kind.name);
      const std::string yaml =
          scenario(kind, "batcher: " + (kind.budget ? without_prefixes(member.name) : "{policy: " + member.name + "}"));
      if (kind.budget && !batcher_of(member.name)->kv_grows()) {
        CHECK(holds(llmscape::testing::mistakes(yaml),
                    "a KV budget needs blocks that are taken as sequences grow, which batcher " + member.name +
                        " does not leave"));
      } else {
        check_served(yaml);
      }
    }
  }
}

// A place below the pool, and what of a model it cannot take.
struct Below {
  std::string name, keys, batcher;
  bool prefixes = false;  // keeps what is cached
  bool entries_alone = false;
};

TEST_CASE("every place below the pool serves every kind of model, or says what it would need") {
  const std::string host = "{name: host, capacity: 2 GB, read: 20 GB/s, write: 20 GB/s, latency: 10 us}";
  const std::vector<Below> places = {
      {"tiers", "kv_tiers: [{preset: host-ddr5, capacity: 4 GB}]", "vllm_v1", true, false},
      {"host", "kv_host: " + host, "vllm_v1", false, true},
      {"host and tiers", "kv_host: " + host + ", kv_tiers: [{preset: host-ddr5, capacity: 4 GB}]", "vllm_v1", true,
       true},
      {"swap", "kv_swap: {preset: host-ddr5, capacity: 8 GB}", "{policy: streaming, victims: swap}", false, true}};
  for (const Below& place : places) {
    for (const Kind& kind : kinds()) {
      CAPTURE(place.name);
      CAPTURE(kind.name);
      const bool states = holds(kind.model, "qwen3.5");
      const std::string batcher =
          place.batcher == "vllm_v1" && !place.prefixes ? without_prefixes(place.batcher) : place.batcher;
      const std::string yaml = scenario(kind, place.keys + ", batcher: " + batcher);
      if (kind.budget && place.prefixes) {
        CHECK(holds(llmscape::testing::mistakes(yaml),
                    "a KV budget needs blocks that no two sequences share, which batcher vllm_v1 does not leave"));
      } else if (states && place.entries_alone) {
        CHECK(holds(llmscape::testing::mistakes(yaml),
                    "needs sequences that keep KV entries and no recurrent states, which qwen3.5-35b-a3b"));
      } else {
        check_served(yaml);
      }
    }
  }
}

TEST_CASE("every router, and faults and controllers, serve every kind of model") {
  const std::string batcher = "batcher: {policy: vllm_v1, enable_prefix_caching: false, max_num_seqs: 8}";
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    for (const auto& member : serving::routers().members()) {
      CAPTURE(member.name);
      const std::string named = member.name == "prefix_affinity" ? "{policy: prefix_affinity}" : member.name;
      if (member.name != "vllm_data_parallel") check_served(scenario(kind, batcher + ", router: " + named));
    }
    check_served(scenario(kind, batcher + ", retries: 5, cold_start: {boot: 0.2 s, bandwidth: 200 GB/s}",
                          "faults: {schedule: [{at: 0.4 s, lasts: 0.5 s, group: gpus, device: 0}]}\n"));
    check_served(scenario(kind, batcher + ", cold_start: {boot: 0.2 s, bandwidth: 200 GB/s}, controllers: [{policy: "
                                          "autoscale, min: 1, up_at: 6, down_at: 2, interval: 0.2 s}]"));
  }
}

TEST_CASE("a small pool preempts, and every kind of model is answered all the same") {
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    // The longest call alone fits: 2,200 tokens, and beside them what layers with a window hold of it: 65 blocks of 25
    // layers of 8 x 512, ten times as wide as the 5 of 2 x 1,024.
    const bool states = holds(kind.model, "qwen3.5"), windows = holds(kind.model, "gemma-4");
    const std::string blocks = states ? "" : windows ? "kv_blocks: 1500, " : "kv_blocks: 160, ";
    const std::string yaml = scenario(kind, blocks + "batcher: {policy: vllm_v1, enable_prefix_caching: false}", "", 1);
    check_served(yaml);
  }
}

}  // namespace model_kinds_test
