// SPDX-License-Identifier: Apache-2.0
// Whole scenarios with KV entries on the host.
#include <doctest/doctest.h>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::holds;
using llmscape::testing::json_on_simgrid;
using llmscape::testing::mistakes;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

constexpr double kTokenBytes = 131'072;  // of Llama 3.1 8B, in 32 layers

// HBM holds 2,000 blocks of 16 tokens.
std::string calls(int requests, int prompt, int output, const std::string& host,
                  const std::string& batcher = "vllm_v0") {
  return "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: a100-80}]}\n"
         "serving: {batcher: {policy: " +
         batcher + ", enable_prefix_caching: false}, kv_blocks: 2000, max_model_len: 100000" +
         (host.empty() ? ""
                       : ", kv_host: {name: host, capacity: 100 GB, read: 20 GB/s, write: 4 GB/s, latency: 10 us, " +
                             host + "}") +
         "}\nworkload: {arrivals: {kind: burst, programs: " + std::to_string(requests) +
         "}, stream: {kind: lengths, prompt: {kind: fixed, value: " + std::to_string(prompt) +
         "}, output: {kind: fixed, value: " + std::to_string(output) + "}}}\n";
}

result::RunResult run_of(const std::string& scenario, const std::vector<std::string>& overrides = {}) {
  return run_on_event_queue(*scenario_of(scenario, overrides));
}

}  // namespace

TEST_CASE("a prompt takes what it computes and, in turn, its bytes over the link and a copy's latency for each layer") {
  const result::RunResult hbm = run_of(calls(1, 16'000, 1, ""));
  const result::RunResult host = run_of(calls(1, 16'000, 1, "keeps: all, copies: in_turn"));
  const double copies = 16'000 * kTokenBytes / 4e9 + 32 * 10e-6;
  CHECK(host.latency["ttft_s"]->mean == approx(hbm.latency["ttft_s"]->mean + copies));
  CHECK(host.kv_store("kv_host").at("wait_s") == approx(copies));
  CHECK(host.kv_store("kv_host").at("written_bytes") == 16'000 * kTokenBytes);
  CHECK(host.kv_store("kv_host").at("read_bytes") == 0);
  CHECK(host.kv_store("kv_host").at("peak_bytes") == 1000 * 16 * kTokenBytes);
}

// Prompts of the profile leave 1,000 B a token, the model's layers 131,072.
TEST_CASE("the host of a profile takes what it says that prompts leave") {
  const result::RunResult run = run_of(
      "schema: scenario/1\nmodel: llama-3.1-8b\n"
      "hardware: {devices: [{kind: profile, name: p, model: llama-3.1-8b, prompts: [{tokens: 1000, time: 0.1 s, kv: 1 "
      "MB}, {tokens: 5000, time: 0.5 s, kv: 5 MB}], decode: {time_per_token: 10 ms, sequences: 20}, capacity: 1 TB, "
      "kv_tokens: 100000, idle_power: 100 W, busy_power: 500 W}]}\n"
      "serving: {batcher: {policy: vllm_v1, enable_prefix_caching: false}, kv_host: {name: h, capacity: 100 MB, read: "
      "20 "
      "GB/s, write: 4 GB/s, latency: 0 s, keeps: all, copies: in_turn}}\n"
      "workload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, value: 4000}, "
      "output: {kind: fixed, value: 2}}}\n");
  CHECK(run.kv_store("kv_host").at("written_bytes") == 4001 * 1000.0);
  CHECK(run.kv_store("kv_host").at("peak_bytes") == 251 * 16 * 1000.0);
}

TEST_CASE("a prompt beyond HBM is dropped without the host, and with it writes what overflows, in chunks or not") {
  CHECK(run_of(calls(1, 40'000, 1, "")).requests.dropped == 1);
  for (const char* batcher : {"vllm_v0", "vllm_v1"}) {
    CAPTURE(batcher);
    const result::RunResult result = run_of(calls(1, 40'000, 1, "copies: in_turn", batcher));
    const result::RunResult roomy = run_of(calls(1, 40'000, 1, "", batcher), {"serving.kv_blocks=3000"});
    CHECK(result.requests.completed == 1);
    CHECK(result.kv_store("kv_host").at("written_bytes") == approx(500 * 16 * kTokenBytes));
    CHECK(result.latency["ttft_s"]->mean ==
          approx(roomy.latency["ttft_s"]->mean + result.kv_store("kv_host").at("wait_s")));
  }
  // Chunks read again what the ones before them left on the host.
  const result::RunResult chunks = run_of(calls(1, 64'000, 1, "keeps: all, copies: in_turn", "vllm_v1"),
                                          {"serving.batcher.max_num_batched_tokens=16000"});
  CHECK(chunks.kv_store("kv_host").at("read_bytes") == (1 + 2 + 3) * 16'000 * kTokenBytes);
  CHECK(chunks.kv_store("kv_host").at("written_bytes") == 64'000 * kTokenBytes);
}

TEST_CASE("a decode reads its context over the link, which bounds it") {
  const auto tpot = [](const std::string& host) { return run_of(calls(1, 16'000, 11, host)).latency["tpot_s"]->mean; };
  const result::RunResult result = run_of(calls(1, 16'000, 11, "keeps: all, copies: in_turn"));
  double entries = 0;
  for (int decode = 0; decode < 10; ++decode) entries += 16'000 + decode;
  CHECK(result.kv_store("kv_host").at("read_bytes") == entries * kTokenBytes);
  CHECK(result.kv_store("kv_host").at("written_bytes") == 16'010 * kTokenBytes);
  CHECK(tpot("keeps: all, copies: in_turn") ==
        approx(tpot("") + entries / 10 * kTokenBytes / 20e9 + kTokenBytes / 4e9 + 64 * 10e-6));
  CHECK(tpot("keeps: all") < tpot("keeps: all, copies: in_turn"));
  CHECK(tpot("keeps: all") > entries / 10 * kTokenBytes / 20e9);
}

TEST_CASE("host memory that is not there, or that nothing needs, changes no latency") {
  const std::string without = result::to_json(run_of(calls(5, 3000, 50, "")));
  CHECK(without == result::to_json(run_of(calls(5, 3000, 50, "keeps: all"), {"serving.kv_host.capacity=0 GB"})));
  const result::RunResult unused = run_of(calls(5, 3000, 50, ""));
  const result::RunResult spare = run_of(calls(5, 3000, 50, "copies: in_turn"));
  CHECK(spare.kv_store("kv_host").at("written_bytes") == 0);
  CHECK(spare.latency["e2e_s"]->max == unused.latency["e2e_s"]->max);
}

TEST_CASE("a faster link is never slower, and an endless one costs the latencies") {
  double before = 1e9;
  for (const char* bandwidth : {"1 GB/s", "10 GB/s", "100 GB/s", "1000000 GB/s"}) {
    const std::string link = std::string("=") + bandwidth;
    const double mean =
        run_of(calls(3, 20'000, 20, "keeps: all"),
               {"serving.kv_host.read" + link, "serving.kv_host.write" + link, "serving.kv_host.latency=0 s"})
            .latency["e2e_s"]
            ->mean;
    CHECK(mean < before);
    before = mean;
  }
  CHECK(before ==
        approx(run_of(calls(3, 20'000, 20, ""), {"serving.kv_blocks=5000"}).latency["e2e_s"]->mean).epsilon(1e-4));
}

TEST_CASE(
    "with KV on the host SimGrid and the bare event queue, with lookahead and without, give the same bytes (INV-14)") {
  for (const char* batcher : {"vllm_v0", "vllm_v1"})
    for (const char* host : {"keeps: all", "keeps: overflow", "copies: in_turn"}) {
      CAPTURE(batcher);
      CAPTURE(host);
      // Two of them fill HBM; the host holds two more, and others give way.
      const auto scenario = scenario_of(calls(8, 15'000, 300, host, batcher), {"serving.kv_host.capacity=4 GB"});
      const result::RunResult result = run_on_event_queue(*scenario);
      CHECK(result.kv_store("kv_host").at("read_bytes") > 0);
      CHECK(result.kv_store("kv_host").at("peak_bytes") <= 4e9);
      const std::string simgrid = json_on_simgrid(*scenario);
      CHECK(simgrid == result::to_json(result));
      CHECK(simgrid == result::to_json(run_on_event_queue(*scenario, 0)));
    }
}

TEST_CASE("a budget: all entries of the prompt go to the host once, decodes read what stays of it") {
  const std::string budget = "token_plan: {policy: kv_budget, keep: 1024}";
  const result::RunResult result =
      run_of(calls(1, 16'000, 11, "keeps: all, copies: in_turn"), {"model={preset: llama-3.1-8b, " + budget + "}"});
  double entries = 0;
  for (int decode = 0; decode < 10; ++decode) entries += 1024 + decode;
  CHECK(result.kv_store("kv_host").at("written_bytes") == 16'010 * kTokenBytes);
  CHECK(result.kv_store("kv_host").at("read_bytes") == entries * kTokenBytes);
  // With one for each chunk, chunks read it too: 15 of 1,000 tokens behind the first.
  const result::RunResult chunks =
      run_of(calls(1, 16'000, 1, "keeps: all, copies: in_turn", "vllm_v1"),
             {"model={preset: llama-3.1-8b, token_plan: {policy: kv_budget, keep: 500, select: each_chunk}}",
              "serving.batcher.max_num_batched_tokens=1000"});
  CHECK(chunks.kv_store("kv_host").at("written_bytes") == 16'000 * kTokenBytes);
  CHECK(chunks.kv_store("kv_host").at("read_bytes") == 15 * 500 * kTokenBytes);
}

TEST_CASE("a ring is one of decodes: chunks read all of the prompt before them") {
  const result::RunResult chunks =
      run_of(calls(1, 16'000, 1, "keeps: all, copies: in_turn", "vllm_v1"),
             {"model={preset: llama-3.1-8b, token_plan: {policy: kv_budget, keep: 1024, then: ring}}",
              "serving.batcher.max_num_batched_tokens=8000"});
  CHECK(chunks.kv_store("kv_host").at("read_bytes") == 8000 * kTokenBytes);
}

// DeepSeek V3.2: in 61 layers a token has 1,152 B of latent and an index key of 132 B; a decode chooses 2,048 latents,
// its own included, and scores the keys of its whole context for that.
TEST_CASE("what is chosen is read beside the keys of the whole context, and a chunk's tokens choose from all of it") {
  const std::vector<std::string> model = {"model=deepseek-v3.2", "hardware.devices[0].preset=h200",
                                          "hardware.devices[0].count=8", "serving.tensor_parallel=8"};
  const auto read = [&model](int prompt, int output, const std::string& chunk) {
    std::vector<std::string> overrides = model;
    overrides.push_back("serving.batcher.max_num_batched_tokens=" + chunk);
    return run_of(calls(1, prompt, output, "keeps: all, copies: in_turn", "vllm_v1"), overrides)
        .kv_store("kv_host")
        .at("read_bytes");
  };
  double decodes = 0;
  for (int decode = 0; decode < 10; ++decode) decodes += 61 * (2047.0 * 1152 + (8000.0 + decode) * 132);
  CHECK(read(8000, 11, "8000") == decodes);
  // Behind 4,000, 8,000 and 12,000 tokens.
  CHECK(read(16'000, 1, "4000") == 61 * 24'000.0 * (1152 + 132));
  // One token behind 8,000 is one choice.
  CHECK(read(8001, 1, "8000") == 61 * (2048.0 * 1152 + 8000 * 132));
}

TEST_CASE("on the host entries stay cached, go to tiers and come back: what is written there is what is computed") {
  // 24 chats, eight at a time, of three turns, 1,000 tokens of message and 100 of answer each; the host's pool holds
  // three of them.
  const auto scenario = scenario_of(
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: a100-80}]}\n"
      "serving: {batcher: vllm_v1, max_model_len: 8000, kv_tiers: [{name: store, capacity: 100 GB, read: 100 GB/s, "
      "write: "
      "100 GB/s, latency: 1 us}], kv_host: {name: host, capacity: 1.5 GB, read: 20 GB/s, write: 20 GB/s, latency: 10 "
      "us, "
      "keeps: all}}\n"
      "workload: {requests: 24, warmup: 0 s, arrivals: {kind: closed_loop, users: 8}, stream: {kind: chat, turns: "
      "{kind: "
      "fixed, value: 3}, message: {kind: fixed, value: 1000}, output: {kind: fixed, value: 100}, think: {kind: fixed, "
      "value: 5 s}, context: 8000}}\n");
  const result::RunResult result = run_on_event_queue(*scenario);
  CHECK(result.requests.completed == 72);
  REQUIRE(result.kv_tiers.size() == 1);
  CHECK(result.kv_tiers[0].read_bytes > 0);
  CHECK(result.kv.preemptions == 0);
  // Prompts of 1,000, 2,100 and 3,200 tokens, less what was reused; of an answer all but its last token.
  CHECK(result.kv_store("kv_host").at("written_bytes") ==
        approx((24 * (1000.0 + 2100 + 3200) - static_cast<double>(result.tokens.reused) + 72 * 99) * kTokenBytes));
  CHECK(json_on_simgrid(*scenario) == result::to_json(result));
}

TEST_CASE("what overflows to the host is swapped out too, and all of it comes back") {
  const std::string streaming =
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: a100-80}]}\n"
      "serving: {batcher: {policy: streaming, victims: swap}, kv_blocks: 300, max_model_len: 8000, kv_swap: {preset: "
      "host-ddr5, capacity: 20 GB}, kv_host: {name: host, capacity: 0.5 GB, read: 20 GB/s, write: 20 GB/s, latency: 10 "
      "us}}\n"
      "workload: {arrivals: {kind: poisson, rate: 20 /s}, requests: 40, stream: {kind: lengths, prompt: {kind: fixed, "
      "value: 1500}, output: {kind: fixed, value: 400}}}\n";
  const auto scenario = scenario_of(streaming);
  const result::RunResult result = run_on_event_queue(*scenario);
  CHECK(result.requests.completed == 40);
  CHECK(result.kv_store("kv_swap").at("swaps") > 0);
  CHECK(result.kv_store("kv_swap").at("read_bytes") == result.kv_store("kv_swap").at("written_bytes"));
  CHECK(result.kv_store("kv_host").at("read_bytes") > 0);
  CHECK(json_on_simgrid(*scenario) == result::to_json(result));
}

TEST_CASE("what cannot keep entries on the host says so") {
  const auto said = [](const std::string& serving) {
    return mistakes(
        "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: a100-80, count: 2}]}\n"
        "serving: {kv_host: {preset: host-ddr5, keeps: all}, " +
        serving + "}\nworkload: {preset: chat-1k, requests: 10}\n");
  };
  CHECK(holds(said("pipeline_parallel: 2"),
              "'kv_host' needs one link for the entries of all layers, which 'pipeline_parallel' does not leave"));
  CHECK(holds(said("speculation: {tokens: 4, acceptance: 0.8, draft: {model: llama-3.2-1b}}"),
              "which the model that makes drafts does not leave"));
}
