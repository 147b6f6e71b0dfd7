// SPDX-License-Identifier: Apache-2.0
// What counts of steps that a fault cuts short, and blocks that a prompt keeps between its chunks.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::run_replayed;

namespace {

// 1 ms a prompt token, 100 ms a decode step, 100 W at rest and 300 W at work.
const std::string kDevice =
    "{kind: profile, name: d, model: llama-3.1-8b, prompts: [{tokens: 1, time: 1 ms, kv: 131072 B}, {tokens: 100000, "
    "time: 100000 ms, kv: 13107200000 B}], decode: {time_per_token: 100 ms, sequences: 1000}, capacity: 80 GB, "
    "kv_tokens: 1000000, idle_power: 100 W, busy_power: 300 W}";

result::RunResult replayed(const std::string& trace, const std::string& scenario,
                           const std::string& window = "{rule: whole}") {
  return run_replayed(trace, [&](const std::string& path) {
    return "schema: scenario/1\nmodel: llama-3.1-8b\n" + scenario + "workload: {replay: {trace: " + path +
           "}}\nwindow: " + window + "\n";
  });
}

result::RunResult with_fault(const std::string& at, const std::string& async) {
  return replayed(
      "{\"arrival_s\": 0, \"output_tokens\": 3, \"prompt_tokens\": 500}\n"
      "{\"arrival_s\": 2, \"output_tokens\": 1, \"prompt_tokens\": 500}\n",
      "hardware: {devices: [" + kDevice +
          "]}\nserving: {kv_blocks: 1000, cold_start: {boot: 1 s, bandwidth: 100000 TB/s}, batcher: {policy: vllm_v1, "
          "max_num_seqs: 4, max_num_batched_tokens: 8000, async_scheduling: " +
          async + ", enable_prefix_caching: false}}\nfaults: {schedule: [{at: " + at +
          ", lasts: 0.1 s, group: d, device: 0}]}\n");
}

}  // namespace

// The first call has its 3 tokens, and of 50 the other one's user has seen those of 2.5 to 4 s when he goes. At 1 USD
// an hour and device that is written off over all tokens, or over those that somebody has the answer of.
TEST_CASE("what was computed for nobody is no answered token, and those who get an answer pay for it") {
  const result::RunResult run = replayed(
      "{\"arrival_s\": 0, \"output_tokens\": 3, \"prompt_tokens\": 500}\n"
      "{\"arrival_s\": 2, \"output_tokens\": 50, \"prompt_tokens\": 500, \"give_up_s\": 2.05}\n",
      "hardware: {devices: [" + kDevice +
          "]}\nserving: {kv_blocks: 1000, batcher: {policy: vllm_v1, max_num_seqs: 4, max_num_batched_tokens: 8000, "
          "async_scheduling: false, enable_prefix_caching: false}}\n"
          "cost: {currency: USD, devices: {d: {hourly: 1 /h}}}\n");
  CHECK(run.requests.completed == 1);
  const auto emitted = static_cast<double>(run.tokens.emitted);
  CHECK(emitted >= 3 + 15);
  CHECK(*run.throughput.answered_share == approx(3 / emitted));
  CHECK(*run.energy->joules_per_output_token == approx(run.energy->total_joules / emitted));
  CHECK(*run.energy->joules_per_answered_token == approx(run.energy->total_joules / 3));
  CHECK(*run.cost->per_million_output_tokens == approx(1e6 * run.window_s / 3600 / emitted));
  CHECK(*run.cost->per_million_answered_tokens == approx(1e6 * run.window_s / 3600 / 3));
}

// 16 of 60 tokens come until the fault at 2 s. Answered again, they come from 12.6 s to 18.5 s: 5 s x 300 W of the
// window for 5 / 5.9 of 60 tokens, 29.5 J each, and none of those that were lost long before.
TEST_CASE("tokens of a lost replica count where they came, those of the answer in the answer's time") {
  const result::RunResult run = replayed(
      "{\"arrival_s\": 0, \"output_tokens\": 60, \"prompt_tokens\": 500}\n",
      "hardware: {devices: [" + kDevice +
          "]}\nserving: {kv_blocks: 1000, cold_start: {boot: 10 s, bandwidth: 100000 TB/s}, batcher: {policy: vllm_v1, "
          "max_num_seqs: 4, max_num_batched_tokens: 8000, async_scheduling: false, enable_prefix_caching: false}}\n"
          "faults: {schedule: [{at: 2 s, lasts: 0.1 s, group: d, device: 0}]}\n",
      "{rule: between, from: 13 s, to: 18 s}");
  CHECK(run.fleet->lost_tokens > 10);
  CHECK(*run.energy->joules_per_answered_token == approx(29.5));
  CHECK(*run.energy->joules_per_output_token == approx(29.5));
}

// At 0.25 s half of the prompt's step is done. Then boot until 1.35 s, the same from 0 on, and the second call: 4 steps
// and 4 tokens until 2.55 s. Joules: 100 W, also while it is down, and 200 W for 0.25 + 0.7 + 0.5 s of work.
TEST_CASE("of a step that a fault cuts short time and joules count until then, and no token of it") {
  for (const char* async : {"true", "false"}) {
    const std::string which = async;
    CAPTURE(which);
    const result::RunResult run = with_fault("0.25 s", async);
    CHECK(run.requests.completed == 2);
    CHECK(run.tokens.emitted == 4);
    CHECK(run.fleet->lost_tokens == 0);
    CHECK(run.tokens.computed == 1000);
    CHECK(run.tokens.recomputed == 0);
    CHECK(run.steps == 4);
    CHECK(run.overall.energy.total_joules == approx(100 * 2.55 + 200 * 1.45).epsilon(1e-6));
  }
}

// At 0.55 s the first token is answered, at 0.65 s the second one: what was answered is lost, what runs is not counted.
TEST_CASE("tokens that a client had are lost with a replica, those of a step under way are not") {
  CHECK(with_fault("0.55 s", "true").fleet->lost_tokens == 1);
  CHECK(with_fault("0.55 s", "false").fleet->lost_tokens == 1);
  const result::RunResult later = with_fault("0.65 s", "true");
  CHECK(later.fleet->lost_tokens == 2);
  CHECK(later.tokens.emitted == 6);
  CHECK(later.tokens.recomputed == 500);
}

// 80 blocks; 1,000 tokens in ten chunks take 63 of them. After two of them a prefix is looked for in the tier, which
// has 20 blocks of it: they must not be those that the prompt still needs.
TEST_CASE("a prompt that sglang cuts has its blocks from its first chunk on") {
  const result::RunResult run = replayed(
      "{\"arrival_s\": 0, \"output_tokens\": 1, \"prompt\": [[1, 320], [2, 10]]}\n"
      "{\"arrival_s\": 0.5, \"output_tokens\": 1, \"prompt_tokens\": 1200}\n"
      "{\"arrival_s\": 3, \"output_tokens\": 1, \"prompt_tokens\": 1000}\n"
      "{\"arrival_s\": 3.15, \"output_tokens\": 1, \"prompt\": [[1, 320], [3, 10]]}\n",
      "hardware: {devices: [" + kDevice +
          "]}\nserving: {kv_blocks: 80, block_size: 16, kv_tiers: [{name: t, capacity: 1 GB, read: 10 MB/s, write: 100 "
          "GB/s, latency: 0 s}], kv_write: write_through, kv_fetch: always, batcher: {policy: sglang, "
          "max_running_requests: 4, chunked_prefill_size: 100, overlap_schedule: false}}\n");
  CHECK(run.requests.completed == 4);
  // From the prompt's end at 4 s on 20 blocks of 2 MiB at 10 MB/s, and ten tokens.
  CHECK(run.latency["ttft_s"]->max == approx(4 - 3.15 + 20 * 16 * 131072 / 10e6 + 0.01).epsilon(1e-6));
}

// Sixteen prompts come with their KV entries at once, and lack their last token: a step of the prefill server, one of
// sixteen last tokens, and nineteen of decodes. One last token a step makes 36 of them.
TEST_CASE("last tokens of prompts from prefill servers are computed together under sglang") {
  std::string calls;
  for (int i = 0; i < 16; ++i) calls += "{\"arrival_s\": 0, \"output_tokens\": 20, \"prompt_tokens\": 100}\n";
  const result::RunResult run =
      replayed(calls, "hardware: {devices: [" + kDevice +
                          ", {preset: h100-sxm, name: e}], fabric: {groups: {d: {node: hgx-h200}, e: {node: "
                          "hgx-h200}}}}\nserving: {first_token: recomputed, kv_by_layer: false, batcher: {policy: "
                          "sglang}, pools: [{devices: [e], role: prefill}, {devices: [d], role: decode}]}\n");
  CHECK(run.requests.completed == 16);
  CHECK(run.steps == 1 + 1 + 19);
}
