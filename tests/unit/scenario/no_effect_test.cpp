// SPDX-License-Identifier: Apache-2.0
// Choices that change nothing, and what of a model lies in which memory.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

namespace no_effect_test {

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::holds;
using llmscape::testing::mistakes;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

constexpr const char* kOneCall =
    "workload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, value: 100}, "
    "output: {kind: fixed, value: 2}}}\n";

std::string yaml_of(const std::string& model, const std::string& device, const std::string& serving) {
  return "schema: scenario/1\nmodel: " + model + "\nhardware: {devices: [" + device + "]}\nserving: {" + serving +
         "}\n" + kOneCall;
}

bool warns(const std::string& yaml, const char* of) {
  const auto scenario = scenario_of(yaml);
  REQUIRE(scenario);
  return std::ranges::any_of(scenario->warnings, [&](const std::string& text) { return holds(text, of); });
}

// What is said while it is read.
std::string warnings_of(const std::string& yaml) {
  Diagnostics diagnostics;
  const auto tree = read_yaml(std::make_shared<const SourceText>(SourceText{"s.yaml", yaml}), diagnostics);
  CHECK(scenario::read_scenario(tree, ".", {}, std::nullopt, llmscape::testing::source_catalogs(), diagnostics));
  return diagnostics.text(false);
}

constexpr const char* kSockets = "{preset: sn40l, count: 8}";
constexpr const char* kGpus = "{preset: h100-sxm, count: 2}";

}  // namespace

TEST_CASE("rules of the KV pool have no effect where a device says itself what it holds, and the user is told") {
  const auto sockets = [](const std::string& more) {
    return yaml_of("llama-3.1-8b", kSockets, "tensor_parallel: 8" + more);
  };
  const auto gpus = [](const std::string& more) { return yaml_of("llama-3.1-8b", kGpus, "tensor_parallel: 2" + more); };
  for (const char* choice : {"kv_windows: split", "gpu_memory_utilization: 0.5"}) {
    CAPTURE(choice);
    const std::string key = std::string(choice).substr(0, std::string(choice).find(':'));
    const std::string said = "serving." + key + " has no effect: 'sn40l' says itself how many tokens of KV it holds";
    CHECK(warns(sockets(std::string(", ") + choice), said.c_str()));
    CHECK_FALSE(warns(gpus(std::string(", ") + choice), "has no effect"));
  }
  // What is taken anyway is no choice: saved scenarios say it.
  CHECK_FALSE(warns(sockets(", kv_windows: pooled, gpu_memory_utilization: 0.9"), "has no effect"));
}

TEST_CASE("what happens only where replicas come and go, or prefixes lie in tiers, is told where they do not") {
  const auto gpus = [](const std::string& serving) { return yaml_of("llama-3.1-8b", kGpus, serving); };
  for (const char* choice : {"cold_start: {boot: 1 s}", "cold_start: {boot: 1 s}, retries: 5"}) {
    CAPTURE(choice);
    CHECK(warns(gpus(choice), "serving.cold_start has no effect"));
    CHECK(warns(gpus(choice), "serving.retries has no effect") == holds(choice, "retries"));
    CHECK_FALSE(warns(gpus(choice) + "faults: {schedule: [{at: 1 s, group: h100-sxm, device: 0, lasts: 1 s}]}\n",
                      "has no effect"));
  }
  for (const char* admission : {"{max_waiting: 10}", "{max_waiting: 10, max_outstanding: 4}"}) {
    CAPTURE(admission);
    const std::string choice = std::string("admission: ") + admission;
    CHECK(warns(gpus(choice), "serving.admission.max_waiting has no effect") != holds(admission, "outstanding"));
    CHECK_FALSE(warns(gpus(choice + ", cold_start: {boot: 1 s}") +
                          "faults: {schedule: [{at: 1 s, group: h100-sxm, device: 0, lasts: 1 s}]}\n",
                      "has no effect"));
  }
  for (const char* choice : {"kv_fetch: always", "kv_write: write_through"}) {
    CAPTURE(choice);
    CHECK(warns(gpus(choice), "there are no 'kv_tiers'"));
    CHECK_FALSE(
        warns(gpus(std::string(choice) + ", kv_tiers: [{preset: host-ddr5, capacity: 10 GB}]"), "has no effect"));
  }
  CHECK_FALSE(warns(gpus("retries: 3, kv_fetch: by_cost, kv_write: on_eviction"), "has no effect"));
}

// Gemma 3 27B has 10 layers without a window and 52 with one, Llama 3.1 none.
TEST_CASE("a pool that counts layers with a window whole for the sake of a tier says so") {
  const auto gpu = [](const char* model, const std::string& serving) {
    return yaml_of(model, kGpus, "tensor_parallel: 2, " + serving);
  };
  const std::string tiers = "kv_tiers: [{preset: host-ddr5, capacity: 10 GB}]";
  const char* text = "keeps the entries of layers with a window whole";
  CHECK(warns(gpu("gemma-3-27b", tiers), text));
  CHECK(warns(gpu("gemma-3-27b", tiers + ", kv_windows: pooled"), text));
  CHECK_FALSE(warns(gpu("gemma-3-27b", tiers + ", kv_windows: ignored"), text));
  CHECK_FALSE(warns(gpu("gemma-3-27b", "kv_windows: pooled"), text));
  CHECK_FALSE(warns(gpu("llama-3.1-8b", tiers), text));
}

TEST_CASE("hosts that search and are never asked are told, as is a time of searches that is not theirs") {
  const std::string hosts =
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}], retrieval: {host: "
      "xeon-8480-2s, count: 1, index: {kind: flat, vectors: 1000000, dimension: 768, format: fp32}}}\n"
      "workload: {arrivals: {kind: burst, programs: 1}, stream: {kind: rag";
  CHECK(warns(hosts + "}}\n", "hardware.retrieval is asked nothing"));
  CHECK_FALSE(warns(hosts + ", search: hosts}}\n", "hardware.retrieval is asked nothing"));
  CHECK(holds(warnings_of(hosts + ", search: hosts, retrieval: {kind: fixed, value: 1 s}}}\n"),
              "'retrieval' has no effect beside 'search: hosts'"));
  const std::string agent = hosts.substr(0, hosts.rfind("rag")) + "agents, tool: ";
  CHECK(holds(warnings_of(agent + "search, tool_time: {kind: fixed, value: 1 s}}}\n"),
              "'tool_time' has no effect beside 'tool: search'"));
  CHECK_FALSE(holds(warnings_of(agent + "tool, tool_time: {kind: fixed, value: 1 s}}}\n"), "'tool_time'"));
}

TEST_CASE("servers of a station where nobody searches are told") {
  const auto station = [](const std::string& stream) {
    return "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}]}\n"
           "serving: {retrieval_servers: 2}\nworkload: {arrivals: {kind: burst, programs: 1}, stream: {" +
           stream + "}}\n";
  };
  const char* const said = "serving.retrieval_servers has no effect";
  CHECK(warns(station("kind: rag"), said));
  CHECK(warns(station("kind: agents"), said));
  CHECK_FALSE(warns(station("kind: rag, retrieval: {kind: fixed, value: 1 s}"), said));
  CHECK_FALSE(warns(station("kind: agents, tool: retrieval"), said));
}

TEST_CASE("only data-parallel ranks of a mixture exchange tokens") {
  const auto exchanges = [](const std::string& plan) {
    return yaml_of("qwen3-30b-a3b", kGpus, plan + ", expert_exchange: all_to_all");
  };
  CHECK(warns(exchanges("tensor_parallel: 2, expert_parallel: 2"), "serving.expert_exchange has no effect"));
  CHECK_FALSE(warns(exchanges("data_parallel: 2, expert_parallel: 2"), "has no effect"));
}

TEST_CASE("macros take inputs of their own width: narrower activations change nothing, and the user is told") {
  const auto chip = [](const std::string& activations) {
    return yaml_of("{preset: llama-3.2-1b, weights: int4, kv: int8, activations: " + activations + "}",
                   "{preset: cim-edge}", "batcher: vllm_v1");
  };
  const char* const said = "model.activations has no effect on 'cim-edge': its macros take inputs of 8 bits";
  CHECK(warns(chip("int4"), said));
  CHECK_FALSE(warns(chip("int8"), said));
  CHECK_FALSE(warns(chip("bf16"), said));
}

// 1.236e9 parameters, 262.7e6 of them in the table of the embedding, which is the head too. int4 with scales has 4.125
// or 4.25 bits. All layers and the head are in the cells of an isaac; of the table rows are read, so that it lies in
// DRAM: 131 MB and its scales, less than 600 MB, which all 637 MB of weights exceed.
TEST_CASE("weights that cells keep for good take nothing of the memory beside them") {
  const auto blocks = [](const std::string& capacity) {
    return static_cast<double>(
        run_on_event_queue(
            *scenario_of(yaml_of("{preset: llama-3.2-1b, weights: int4, kv: int8}",
                                 "{preset: isaac, dram: {preset: lpddr5x, package_capacity: " + capacity + "}}",
                                 "batcher: {policy: vllm_v1, max_num_batched_tokens: 512, max_num_seqs: 8}")))
            .kv.blocks);
  };
  CHECK(blocks("600 MB") > 0);
  // Of 16 tokens at 16,384 B (16 layers, 8 heads of 64, keys and values) a block has 262,144 B, of 0.9 x 100 MB 343.3.
  CHECK(blocks("700 MB") - blocks("600 MB") == approx(0.9 * 100e6 / (16 * 2 * 16 * 8 * 64)).epsilon(0.01));
}

// 70.55e9 bytes on 320 sockets are 220.5 MB on each; the GPU's plan would have 476.6 MB on the one with the embedding.
TEST_CASE("sockets of a dataflow machine in stages hold even parts of the weights, and no more than they have") {
  const auto result = run_on_event_queue(*scenario_of(
      yaml_of("{preset: llama-3.1-70b, weights: int8}", "{preset: groq-lpu, count: 320}",
              "tensor_parallel: 4, pipeline_parallel: 80, batcher: {policy: vllm_v1, enable_prefix_caching: false}")));
  REQUIRE(result.memory);
  CHECK(result.memory->by_kind.of(models::MemoryKind::weights).si() == approx(70.55e9 / 320).epsilon(0.001));
  CHECK(result.memory->by_kind.total().si() <= 230e6);
}

}  // namespace no_effect_test
