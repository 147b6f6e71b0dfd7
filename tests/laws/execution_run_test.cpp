// SPDX-License-Identifier: Apache-2.0
// Scenarios whose engine keeps its cache in other forms than blocks, computes attention eagerly, or all logits.
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

std::string calls(const std::string& serving, std::int64_t prompt, int output, const std::string& device = "a100-80") {
  return "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: " + device + "}]}\nserving: {" +
         serving +
         "}\nworkload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, "
         "value: " +
         std::to_string(prompt) + "}, output: {kind: fixed, value: " + std::to_string(output) + "}}}\n";
}

result::RunResult run_of(const std::string& serving, std::int64_t prompt, int output) {
  return run_on_event_queue(*scenario_of(calls(serving, prompt, output)));
}

double device_time_per_token(const result::RunResult& result) { return result.latency["tpot_s"]->mean; }

const std::string kAlone =
    "batcher: {policy: vllm_v0, max_num_seqs: 1, max_num_batched_tokens: 4096}, cuda_graphs: none";

}  // namespace

TEST_CASE("paged, flash and last, spelled out, give the same bytes as an engine that says nothing (INV-9)") {
  const std::string engine = "engine: {name: vllm, kv_cache: paged, attention: flash, logits: last}";
  CHECK(result::to_json(run_of(engine, 3000, 50)) == result::to_json(run_of("engine: {name: vllm}", 3000, 50)));
}

TEST_CASE("a concatenated cache moves the entries of each decode twice more, and takes no less than that time") {
  const auto paged = run_of(kAlone, 100'000, 200);
  const auto joined = run_of(kAlone + ", engine: {name: vllm, version: \"0.6\", kv_cache: concatenated}", 100'000, 200);
  double entries = 0;  // 199 decodes, the first over the prompt and itself
  for (int decode = 1; decode < 200; ++decode) entries += 100'000 + decode;
  CHECK(joined.work.bytes - paged.work.bytes == approx(2 * entries * 131'072).epsilon(1e-6));
  CHECK(device_time_per_token(joined) - device_time_per_token(paged) > 2 * 100'000 * 131'072.0 / 2.04e12);
  CHECK(joined.latency["ttft_s"]->mean == approx(paged.latency["ttft_s"]->mean).epsilon(1e-3));  // nothing to join
}

TEST_CASE("transformers: batches without graphs, a concatenated cache, and by version eager attention and all logits") {
  const auto chosen = [](const std::string& version) {
    return scenario_of(calls("engine: {name: transformers" + version + "}", 100, 10))->pools[0].engine;
  };
  CHECK(chosen("").kv_cache == models::KvCacheForm::concatenated);
  CHECK(chosen("").attention == models::AttentionForm::flash);
  CHECK(chosen("").logits == models::LogitRows::last);
  CHECK(chosen(", version: \"4.44\"").logits == models::LogitRows::all);
  CHECK(chosen(", version: \"4.30\"").attention == models::AttentionForm::eager);
  CHECK(chosen(", kv_cache: paged").kv_cache == models::KvCacheForm::paged);  // what the file says wins
}

TEST_CASE("logits of all tokens cost a prompt 2 x tokens x hidden x vocabulary more, and a decode nothing") {
  const auto last = run_of(kAlone + ", engine: {name: vllm, version: \"0.6\"}", 4096, 50);
  const auto all = run_of(kAlone + ", engine: {name: vllm, version: \"0.6\", logits: all}", 4096, 50);
  CHECK(all.work.flops - last.work.flops == approx(2.0 * 4095 * 4096 * 128'256).epsilon(1e-6));
  CHECK(all.latency["tpot_s"]->mean == approx(last.latency["tpot_s"]->mean).epsilon(1e-9));
}

TEST_CASE("eager attention makes a prompt as much slower as its scores take to write and read") {
  const auto flash = run_of(kAlone, 4096, 2);
  const auto eager = run_of(kAlone + ", engine: {name: vllm, version: \"0.6\", attention: eager}", 4096, 2);
  const double bytes = 2 * 2 * 32 * 32 * (4096.0 * 4096 + 4097);  // the prompt's, and those of one decode
  CHECK(eager.work.bytes - flash.work.bytes == approx(bytes).epsilon(1e-9));
  CHECK(eager.latency["ttft_s"]->mean - flash.latency["ttft_s"]->mean > bytes / 2.04e12);
}

TEST_CASE("static slots: what does not go with them is said, and what they hold has to fit") {
  const std::string slots = "engine: {kv_cache: static}";
  CHECK(holds(mistakes(calls(slots, 100, 10)),
              "'kv_cache: static' has slots of serving.max_model_len tokens, which has to be given"));
  CHECK(holds(mistakes(calls(slots + ", max_model_len: 8192, batcher: {policy: vllm_v1, max_num_seqs: 256}", 100, 10)),
              "slots of 8192 tokens for 256 sequences take 131072 KV blocks"));
  const std::string fits = slots + ", max_model_len: 8192, batcher: {policy: vllm_v1, max_num_seqs: 4}";
  const auto whole = run_on_event_queue(*scenario_of(calls(fits, 100, 20)));
  const auto paged = run_on_event_queue(
      *scenario_of(calls("max_model_len: 8192, batcher: {policy: vllm_v1, max_num_seqs: 4}", 100, 20)));
  CHECK(whole.latency["tpot_s"]->mean > paged.latency["tpot_s"]->mean);
  CHECK(whole.latency["ttft_s"]->mean == paged.latency["ttft_s"]->mean);
}

TEST_CASE("an engine's execution is refused where nothing prices it") {
  CHECK(holds(mistakes(calls("engine: {attention: eager}", 100, 10, "sn40l")),
              "'sn40l' prices steps by forms of its own"));
  CHECK(holds(mistakes(calls("engine: {kv_cache: concatenated}", 100, 10)), "cuda_graphs has to be none"));
  CHECK(holds(mistakes(calls("engine: {kv_cache: joined}", 100, 10)), "'kv_cache' must be one of paged, static"));
}
