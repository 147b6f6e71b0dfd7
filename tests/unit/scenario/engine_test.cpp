// SPDX-License-Identifier: Apache-2.0
// What `serving.engine` chooses: scheduling, graphs, KV memory of windows, first tokens after a KV transfer.
#include <doctest/doctest.h>

#include <cmath>

#include "sim/scenario/engine_defaults.hpp"
#include "sim/scenario/engine_versions.hpp"
#include "sim/scenario/replica_size.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

namespace engine_test {

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::holds;
using llmscape::testing::mistakes;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

std::string served(const std::string& serving, const std::string& model = "llama-3.1-8b",
                   const std::string& device = "h100-sxm") {
  return "schema: scenario/1\nmodel: " + model + "\nhardware: {devices: [{preset: " + device +
         ", count: 2}]}\nserving: " + serving +
         "\nworkload: {requests: 20, arrivals: {kind: closed_loop, users: 1}, stream: {kind: lengths, prompt: {kind: "
         "fixed, "
         "value: 100}, output: {kind: fixed, value: 21}}}\n";
}

struct Chosen {
  bool asynchronous;
  engine::CudaGraphs graphs;
  bool operator==(const Chosen&) const = default;
};

Chosen chosen(const std::string& serving) {
  const auto scenario = scenario_of(served(serving));
  const scenario::PoolConfig& pool = scenario->pools.front();
  return {pool.batcher->depth() > 1, pool.cuda_graphs};
}

}  // namespace

TEST_CASE("which version of vLLM is it? 0.9 is older than 0.13, and each chooses its own scheduling and graphs") {
  CHECK(scenario::compare_versions("0.9", "0.13") < 0);
  CHECK(scenario::compare_versions("0.13", "0.13.0") == 0);
  CHECK(scenario::compare_versions("1", "0.19.2") > 0);
  using enum engine::CudaGraphs;
  CHECK(chosen("{engine: {name: vllm, version: \"0.6\"}}") == Chosen{false, full});
  CHECK(chosen("{engine: {name: vllm, version: 0.10}}") == Chosen{false, piecewise});
  CHECK(chosen("{engine: {name: vllm, version: \"0.13\"}}") == Chosen{false, full_and_piecewise});
  CHECK(chosen("{engine: {name: vllm, version: \"0.14\"}}") == Chosen{true, full_and_piecewise});
  CHECK(chosen("{}") == Chosen{true, full_and_piecewise});
  CHECK(chosen("{engine: {name: orca}}") == Chosen{false, none});
  CHECK(scenario_of(served("{engine: {name: vllm, version: \"0.6\"}}"))->pools[0].batcher->prefix_caching() == false);
  CHECK(chosen("{batcher: sglang}") == Chosen{true, full});
  CHECK(scenario_of(served("{batcher: sglang}"))->pools[0].engine.name == "sglang");
}

TEST_CASE("does vLLM schedule ahead through a pipeline, or beside drafts of another model? no; beside EAGLE it does") {
  CHECK_FALSE(chosen("{pipeline_parallel: 2}").asynchronous);
  CHECK_FALSE(chosen("{speculation: {tokens: 3, acceptance: 0.7}}").asynchronous);
  CHECK(chosen("{speculation: {tokens: 3, acceptance: 0.7, draft: {share: 0.05}}}").asynchronous);
}

TEST_CASE("who wins, the engine or what the file says? the file; true and false are still read") {
  const std::string old = "engine: {name: vllm, version: \"0.9\"}";
  CHECK(chosen("{" + old + ", batcher: {async_scheduling: true}, cuda_graphs: none}") ==
        Chosen{true, engine::CudaGraphs::none});
  CHECK(chosen("{" + old + ", cuda_graphs: true}").graphs == engine::CudaGraphs::piecewise);
  CHECK(chosen("{" + old + ", cuda_graphs: false}").graphs == engine::CudaGraphs::none);
}

TEST_CASE("what does an engine refuse? a version that is none, and another engine's batcher") {
  CHECK(holds(mistakes(served("{engine: {name: vllm, version: newest}}")),
              "s.yaml:4:41: error: 'version' is numbers with points between them, not 'newest'"));
  CHECK(holds(mistakes(served("{engine: {name: vllm}, batcher: sglang}")), "vllm does not schedule as 'sglang' does"));
  CHECK(holds(mistakes(served("{engine: {name: vlm}}")), "'name' must be one of vllm, sglang"));
}

// Each engine has its own; the policy is what the file leaves open, whatever else it says of the batcher.
TEST_CASE(
    "does a key of the batcher choose another scheduler than the engine has? no, in a file, an override or a pool") {
  const auto policy = [](const std::string& serving, const std::vector<std::string>& set = {}) {
    const auto scenario = scenario_of(served(serving), set);
    const YamlNode* pools = scenario->resolved.find("serving")->find("pools");
    const YamlNode& pool = pools->items.empty() ? *scenario->resolved.find("serving") : pools->items[0];
    return pool.find("batcher")->find("policy")->text;
  };
  const std::string old = "engine: {name: vllm, version: \"0.6\"}";
  CHECK(policy("{" + old + "}") == "vllm_v0");
  CHECK(policy("{" + old + ", batcher: {max_num_seqs: 256}}") == "vllm_v0");
  CHECK(policy("{" + old + "}", {"serving.batcher.max_num_seqs=256"}) == "vllm_v0");
  CHECK(policy("{engine: {name: sglang}, batcher: {max_running_requests: 8}}") == "sglang");
  CHECK(policy("{batcher: {max_num_seqs: 8}}") == "vllm_v1");
  CHECK(policy("{" + old + ", pools: [{devices: [h100-sxm], batcher: {max_num_seqs: 8}}]}") == "vllm_v0");
  CHECK(policy("{batcher: sglang, pools: [{devices: [h100-sxm], batcher: {max_running_requests: 8}}]}") == "sglang");
}

TEST_CASE("is a policy or a batcher that is no word taken for none? it is refused") {
  const std::string choices = "vllm_v1, vllm_v0, sglang, trtllm";
  for (const char* odd : {"[sglang]", "{sglang: 1}", ""})
    CHECK(holds(mistakes(served("{batcher: {max_num_seqs: 32, policy: " + std::string(odd) + "}}")),
                "'policy' of batcher must be one of"));
  CHECK(holds(mistakes(served("{batcher: [sglang]}")), "batcher must be"));
  CHECK(holds(mistakes(served("{batcher: }")), "batcher must be"));
}

// One user: a step has one sequence. What vLLM 0.6 takes of the host stands before each step of its own scheduler: 600
// us and 82 us, the same on any device; it is not hidden, and the file wins.
TEST_CASE("what does the host of an older vLLM take? its step and its sequences, wherever it runs") {
  const auto tpot = [](const std::string& engine, const std::string& device) {
    return run_on_event_queue(*scenario_of(served("{" + engine + "}", "llama-3.1-8b", device))).latency["tpot_s"]->mean;
  };
  for (const char* device : {"h100-sxm", "a100-80", "l40s"}) {
    const double none = tpot("engine: {name: vllm, version: \"0.6\", per_step: 0 s, per_sequence: 0 s}", device);
    CHECK(tpot("engine: {name: vllm, version: \"0.6\"}", device) == approx(none + 682e-6));
    CHECK(tpot("engine: {name: vllm, version: \"0.6\", per_sequence: 1 ms}", device) == approx(none + 1600e-6));
    CHECK(tpot("batcher: vllm_v0", device) == none);  // a batcher alone says nothing of the host
  }
}

// One call of 21 tokens: with reports of five, its user sees tokens 1, 6, 11, 16 and 21, or 5, 10, 15, 20 and 21.
TEST_CASE("when does the user see the first token? at once, or in older SGLang with the fifth") {
  const auto of = [](const std::string& engine) {
    auto latency = run_on_event_queue(*scenario_of(served("{engine: {" + engine + "}}"))).latency;
    return std::pair(latency["ttft_s"]->mean, latency["tpot_s"]->mean);
  };
  const auto [plain, step] = of("name: sglang, version: \"0.4\"");
  CHECK(of("name: sglang, stream_interval: 5").first == of("name: sglang").first);
  CHECK(of("name: vllm, stream_interval: 5") == of("name: vllm"));
  CHECK(of("name: transformers, stream_interval: 5").first == of("name: transformers").first);
  const auto [held, rest] = of("name: sglang, version: \"0.4\", stream_interval: 5");
  CHECK(held == approx(plain + 4 * step).epsilon(1e-3));
  CHECK(rest == approx(step * 16 / 20).epsilon(1e-3));
  const auto said = of("name: sglang, version: \"0.4\", stream_interval: 5, first_report: at_once");
  CHECK(said == std::pair(plain, step));
}

// 32 layers of 10 operators and 4 outside, 22 us each from Python: 7.128 ms, more than the device's 6.2 ms: 5.4 ms for
// GEMMs, whose weights take 4.5 ms at 3.35 TB/s, and the rest for what stands between them. With 126 us for a step and
// 4 us for its request before it where the host does not plan ahead.
TEST_CASE("is eager mode free? a token of an 8B model on an H100 then waits for its launches") {
  const auto tpot = [](const std::string& serving) {
    return run_on_event_queue(*scenario_of(served(serving))).latency["tpot_s"]->mean;
  };
  const double launches = (32 * 10 + 4) * 22e-6;
  CHECK(tpot("{cuda_graphs: none}") == approx(launches + 130e-6));
  CHECK(tpot("{cuda_graphs: none, batcher: {async_scheduling: false}}") == approx(launches + 130e-6));
  const double device = tpot("{}");
  CHECK(device < 0.9 * launches);
  CHECK(device > 1.2 * 15.01e9 / 3.35e12);
  CHECK(tpot("{batcher: {async_scheduling: false}}") == approx(device + 130e-6));
  CHECK(run_on_event_queue(*scenario_of(served("{cuda_graphs: none}"))).engine == "vllm 0.19");
}

// GPT-OSS-120B: 18 layers without a window and 18 with one of 128, 8 KV heads of 64, bf16: 2 x 8 x 64 x 2 x 18 =
// 36,864 bytes a token each. A sequence of 32,768 tokens holds 2,048 blocks of the former and ceil((127 + 2) / 16) + 1
// = 10 of the latter.
TEST_CASE("how many sequences of 32k fit of GPT-OSS? almost twice what its layers with a window would let") {
  const auto size = [](const std::string& serving) {
    const auto scenario = scenario_of(served(serving, "gpt-oss-120b", "h200"));
    return scenario::replica_size(*scenario, scenario->pools[0], *scenario->config.hardware.devices[0]);
  };
  const scenario::ReplicaSize whole = size("{kv_windows: ignored}"), pooled = size("{}");
  const auto bytes = [](const scenario::ReplicaSize& all) {
    return static_cast<double>(all.kv.all()) * 16 * 2 * 36864;
  };
  const double memory = bytes(whole);
  CHECK(static_cast<double>(pooled.kv.all()) == approx(memory / (16 * 36864)).epsilon(1e-3));
  REQUIRE(pooled.windows.size() == 1);
  CHECK(pooled.windows[0].most == 10);
  CHECK(pooled.windows[0].weight == approx(1));
  CHECK(whole.windows.empty());
  // SGLang, which holds back other memory than vLLM: 0.8 tokens for layers with a window for each token of the others.
  const scenario::ReplicaSize ratio = size("{batcher: sglang}");
  const double of_sglang = bytes(size("{batcher: sglang, kv_windows: ignored}"));
  CHECK(static_cast<double>(ratio.kv.all()) == approx(of_sglang / (1.8 * 16 * 36864)).epsilon(1e-3));
  // 256 rows of 201,088 logits at 39 bytes under vLLM, 8,192 tokens of activations and 0.9 GB under SGLang.
  CHECK(std::abs(of_sglang - memory) < 1.5e9);
  // A model of one kind of layer is the same to all.
  for (const char* serving : {"{}", "{kv_windows: ignored}"}) {
    const auto scenario = scenario_of(served(serving));
    CHECK(scenario::replica_size(*scenario, scenario->pools[0], *scenario->config.hardware.devices[0]).windows.empty());
  }
}

// Orca takes blocks for the whole of a request when it is admitted. 32,768 tokens are 2,048 blocks and 10 for the
// layers with a window.
TEST_CASE(
    "do sequences take what their windows hold? five of 32k run on 5 x (2,048 + 9) blocks, four on one block less") {
  const auto blocks_used = [](std::int64_t blocks) {
    const auto result = run_on_event_queue(*scenario_of(
        "schema: scenario/1\nmodel: gpt-oss-120b\nhardware: {devices: [{preset: h200, count: 1}]}\nserving: "
        "{kv_blocks: " +
        std::to_string(blocks) +
        ", batcher: {policy: orca, max_batch: 64}}\nworkload: {requests: 8, arrivals: {kind: closed_loop, users: 8}, "
        "stream: {kind: lengths, prompt: {kind: fixed, value: 32368}, output: {kind: fixed, value: 400}}}\n"));
    CHECK(result.requests.completed == 8);
    return result.kv.peak_use * static_cast<double>(blocks);
  };
  CHECK(blocks_used(5 * 2057) == approx(5 * 2057));
  CHECK(blocks_used(5 * 2057 - 1) == approx(4 * 2057));
}

// One call: its prompt on one server, its tokens on another. The first token is that of the prompt, of the prompt and
// the transfer (262 MB at 1.25 GB/s and 40 ms), or of both and a step of the decoder.
TEST_CASE("whose is the first token of a KV transfer? the decoder's in vLLM, the transfer's in SGLang") {
  const auto result = [](const std::string& serving) {
    return run_on_event_queue(*scenario_of(
        "schema: scenario/1\nmodel: llama-3.1-8b\nhardware:\n"
        "  devices: [{name: prompts, preset: h100-sxm}, {name: tokens, preset: h100-sxm}]\n"
        "  fabric:\n"
        "    groups: {prompts: {node: dgx-h100, site: cloud}, tokens: {node: dgx-h100, site: shop}}\n"
        "    sites: {cloud: {uplink: 10 Gbit/s, latency: 20 ms}, shop: {uplink: 10 Gbit/s, latency: 20 ms}}\n"
        "serving: {" +
        serving +
        ", kv_by_layer: false, pools: [{devices: [prompts], role: prefill}, {devices: [tokens], role: decode}]}\n"
        "workload: {requests: 1, arrivals: {kind: periodic, rate: 1 /s}, stream: {kind: lengths, prompt: {kind: fixed, "
        "value: 2000}, output: {kind: fixed, "
        "value: 50}}}\n"));
  };
  const auto prefill = result("first_token: prefill"), transferred = result("first_token: transferred"),
             recomputed = result("first_token: recomputed");
  const double moved = 2000 * 131072 / 1.25e9;
  CHECK(transferred.latency["ttft_s"]->mean - prefill.latency["ttft_s"]->mean == approx(moved + 0.04).epsilon(1e-3));
  CHECK(transferred.latency["e2e_s"]->mean == approx(prefill.latency["e2e_s"]->mean));
  const double step = recomputed.latency["ttft_s"]->mean - transferred.latency["ttft_s"]->mean;
  CHECK(step > 15.0e9 / 3.35e12);  // at least the weights once
  CHECK(step < 0.02);
  CHECK(recomputed.latency["e2e_s"]->mean == approx(transferred.latency["e2e_s"]->mean + step));
  CHECK(recomputed.tokens.recomputed == 1);
  CHECK(transferred.tokens.recomputed == 0);
  CHECK(result("kv_blocks: 10000").latency["ttft_s"]->mean == recomputed.latency["ttft_s"]->mean);
  CHECK(result("batcher: sglang").latency["ttft_s"]->mean == approx(transferred.latency["ttft_s"]->mean).epsilon(0.02));
}

}  // namespace engine_test
