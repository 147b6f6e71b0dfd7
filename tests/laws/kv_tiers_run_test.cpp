// SPDX-License-Identifier: Apache-2.0
// Whole scenarios with KV tiers.
#include <doctest/doctest.h>

#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::json_on_simgrid;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

// Two replicas that hold some of the conversations that come back.
std::string chats(const std::string& serving) {
  return "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{name: gpu, preset: a100-40, count: 2}]}\n"
         "serving: {router: prefix_affinity, kv_blocks: 3000, max_model_len: 16000" +
         serving +
         "}\n"
         "workload:\n"
         "  requests: 60\n"
         "  arrivals: {kind: poisson, rate: 0.5 /s}\n"
         "  stream: {kind: chat, turns: {kind: fixed, value: 4}, message: {kind: fixed, value: 1000}, think: {kind: "
         "exponential, mean: 20 s}}\n";
}

}  // namespace

TEST_CASE("tiers smaller than a block change no byte") {
  const std::string without = result::to_json(run_on_event_queue(*scenario_of(chats(""))));
  CHECK(without == result::to_json(run_on_event_queue(*scenario_of(
                       chats(", kv_tiers: [{preset: host-ddr5, capacity: 0 GB}, {preset: remote-store, capacity: 1 "
                             "MB}]")))));
  CHECK(without != result::to_json(run_on_event_queue(*scenario_of(chats(", kv_tiers: [host-ddr5]")))));
}

TEST_CASE("with tiers SimGrid and the bare event queue, with lookahead and without, give the same bytes (INV-14)") {
  for (const char* write : {"on_eviction", "write_through"}) {
    const auto scenario = scenario_of(
        chats(std::string(", kv_write: ") + write + ", kv_tiers: [{preset: host-ddr5, capacity: 4 GB}, remote-store]"));
    const std::string simgrid = json_on_simgrid(*scenario);
    CHECK(simgrid == json_on_simgrid(*scenario, 0));
    CHECK(simgrid == result::to_json(run_on_event_queue(*scenario)));
    CHECK(simgrid == result::to_json(run_on_event_queue(*scenario, 0)));
  }
}

// Prompts of the profile leave 1,000 B a token, the model's layers 131,072: 250 blocks of 16 tokens are 4,000,000 B.
TEST_CASE("tiers of a profile move what it says that prompts leave") {
  const auto run = run_on_event_queue(*scenario_of(
      "schema: scenario/1\nmodel: llama-3.1-8b\n"
      "hardware: {devices: [{kind: profile, name: p, model: llama-3.1-8b, prompts: [{tokens: 1000, time: 0.1 s, kv: 1 "
      "MB}, {tokens: 5000, time: 0.5 s, kv: 5 MB}], decode: {time_per_token: 10 ms, sequences: 20}, capacity: 1 TB, "
      "kv_tokens: 100000, idle_power: 100 W, busy_power: 500 W}]}\n"
      "serving: {batcher: vllm_v1, kv_write: write_through, kv_tiers: [{name: h, capacity: 10 MB, read: 20 GB/s, "
      "write: "
      "20 GB/s, latency: 0 s}]}\n"
      "workload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, value: 4000}, "
      "output: {kind: fixed, value: 2}}}\n"));
  REQUIRE(run.kv_tiers.size() == 1);
  CHECK(run.kv_tiers[0].written_bytes == 4e6);
}

// Half a gigabyte is asked for within a second or two of run, 20 MB/s write no more than that.
TEST_CASE("a tier has written no more than its link carries") {
  const auto run = run_on_event_queue(*scenario_of(
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [h100-sxm]}\n"
      "serving: {kv_write: write_through, kv_tiers: [{preset: host-ddr5, write: 20 MB/s}]}\n"
      "workload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, value: 4000}, "
      "output: {kind: fixed, value: 200}}}\n"));
  CHECK(run.kv_tiers.at(0).written_bytes > 0);
  CHECK(run.kv_tiers.at(0).written_bytes <= 20e6 * run.simulated_s);
  CHECK(run.kv_tiers.at(0).written_bytes < 4000 * 131'072.0);
}

// Entries of a token: 2 x 32 x 8 x 128 x 2 B of the model, 2 x 16 x 8 x 64 x 2 B of its draft model, which has the same
// blocks: 250 blocks of 16 tokens.
TEST_CASE("tiers keep the entries of a draft model beside those of the model") {
  const auto written = [](const std::string& drafts) {
    const auto run = run_on_event_queue(*scenario_of(
        "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [h100-sxm]}\n"
        "serving: {kv_write: write_through, kv_tiers: [host-ddr5]" +
        drafts +
        "}\n"
        "workload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, value: 4000}, "
        "output: {kind: fixed, value: 2}}}\n"));
    return run.kv_tiers.at(0).written_bytes;
  };
  CHECK(written("") == 4000 * 131'072.0);
  CHECK(written(", speculation: {tokens: 3, acceptance: 0.8, draft: {model: llama-3.2-1b}}") ==
        4000 * (131'072.0 + 32'768.0));
  CHECK(written(", speculation: {tokens: 3, acceptance: 0.8, draft: {share: 0.05}}") == 4000 * 131'072.0);
}

TEST_CASE("a store that all share serves what another replica computed, tiers of their own do not") {
  const auto fetched = [](const std::string& tiers) {
    const auto scenario = scenario_of(chats(", kv_write: write_through, kv_fetch: always, kv_tiers: [" + tiers + "]"),
                                      {"serving.router=round_robin", "serving.kv_blocks=100000"});
    return run_on_event_queue(*scenario).tokens.fetched;
  };
  // Nothing leaves HBM: a replica has no use for its own copies.
  CHECK(fetched("host-ddr5") == 0);
  CHECK(fetched("remote-store") > 100'000);
}

// Copies of PCIe 5 reach 50 GB/s for each GPU, 400 for the eight of a node: of that memory one GPU reads as of one with
// 50 GB/s, eight that cut the entries read eight times as fast, and eight that need all of a latent as one.
TEST_CASE("a replica reads the memory of its node over the links of its own devices, latents over each of them") {
  const auto ttft = [](const std::string& model, int devices, const std::string& overrides) {
    const std::string count = std::to_string(devices);
    const auto run = run_on_event_queue(*scenario_of(
        "schema: scenario/1\nmodel: " + model + "\nhardware: {devices: [{name: gpu, preset: h200, count: " + count +
        "}], fabric: {groups: {gpu: {node: hgx-h200}}}}\nserving: {tensor_parallel: " + count +
        ", kv_blocks: 700, max_model_len: 8000, kv_write: write_through, kv_fetch: always, kv_tiers: [{preset: "
        "host-ddr5-node" +
        overrides +
        "}]}\nworkload: {requests: 24, arrivals: {kind: poisson, rate: 1 /s}, stream: {kind: chat, turns: {kind: "
        "fixed, "
        "value: 4}, message: {kind: fixed, value: 1000}, output: {kind: log_normal, mean: 214.5, cv: 1.45}, "
        "think: {kind: exponential, mean: 5 s}}}\n"));
    CHECK(run.tokens.fetched > 5000);
    return run.latency["ttft_s"]->mean;
  };
  const std::string all = ", device_link: 1 TB/s";
  CHECK(ttft("llama-3.1-8b", 1, "") > ttft("llama-3.1-8b", 1, all));
  CHECK(ttft("llama-3.1-8b", 8, "") == ttft("llama-3.1-8b", 8, all));
  CHECK(ttft("deepseek-v3", 8, "") > ttft("deepseek-v3", 8, all));
}

TEST_CASE("results name what tiers did, and it adds up") {
  const auto scenario = scenario_of(chats(", kv_tiers: [{preset: host-ddr5, capacity: 4 GB}, remote-store]"));
  const result::RunResult result = run_on_event_queue(*scenario);
  REQUIRE(result.kv_tiers.size() == 2);
  const result::TierResult& remote = result.kv_tiers[1];
  const result::TierResult& host = result.kv_tiers[0];
  CHECK(host.name == "host");
  CHECK(host.memories == 2);
  CHECK(remote.memories == 1);
  CHECK(host.capacity_bytes <= 8e9);
  CHECK(host.peak_bytes <= host.capacity_bytes);
  CHECK(host.evicted_bytes > 0);
  CHECK(result.tokens.fetched > 0);
  CHECK(result.tokens.fetched <= host.fetched_tokens + remote.fetched_tokens);
  CHECK(result.tokens.fetched <= result.tokens.reused);
  const double per_token = 2.0 * 32 * 8 * 128 * 2;  // keys and values, layers, heads, width, bytes
  CHECK(host.read_bytes == static_cast<double>(host.fetched_tokens) * per_token);
  CHECK(host.hit_rate <= 1);
  CHECK(host.read_use < 1);
}
