// SPDX-License-Identifier: Apache-2.0
// KV transfers over a fabric that others are on, that breaks, or that leads to decoders that are not there.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

namespace kv_transfer_run_test {

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::run_replayed;

namespace {

// 0.1 ms and 100 KB a prompt token, 10 ms a decode step.
std::string device(const std::string& name, int count) {
  return "{kind: profile, name: " + name + ", model: llama-3.1-8b, count: " + std::to_string(count) +
         ", capacity: 80 GB, kv_tokens: 100000, idle_power: 100 W, busy_power: 500 W, prompts: [{tokens: 1000, time: "
         "100 ms, kv: 100 MB}, {tokens: 8000, time: 800 ms, kv: 800 MB}], decode: {time_per_token: 10 ms, sequences: "
         "64}}";
}

// Entries take 11 ms (1 + 2 + 5 + 3) and 0.1 ms a token at 1 GB/s.
const std::string kSlow =
    "{in: {node: {devices: 1, port: 100 GB/s, port_latency: 1 ms, uplink: 1 GB/s, uplink_latency: 2 ms}}, out: {node: "
    "{devices: 1, port: 100 GB/s, port_latency: 3 ms, uplink: 2 GB/s, uplink_latency: 5 ms}}}";
// Entries take 1 us a token.
const std::string kFast =
    "{in: {node: {devices: 1, port: 100 GB/s, port_latency: 0 s, uplink: 100 GB/s, uplink_latency: 0 s}}, out: {node: "
    "{devices: 1, port: 100 GB/s, port_latency: 0 s, uplink: 100 GB/s, uplink_latency: 0 s}}}";
const std::string kColdStart = "cold_start: {boot: 50 ms, bandwidth: 1000 GB/s}";

struct Pools {
  std::string links, serving, decoder, faults, workload;
  int decoders = 1;
};

result::RunResult replayed(const std::string& trace, const Pools& pools) {
  return run_replayed(trace, [&](const std::string& path) {
    return "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [" + device("in", 1) + ", " +
           device("out", pools.decoders) + "], fabric: {groups: " + pools.links +
           "}}\nserving: {batcher: {policy: vllm_v1, max_num_seqs: 64, max_num_batched_tokens: 8192, "
           "enable_prefix_caching: false, async_scheduling: false}, pools: [{devices: [in], role: prefill, name: in}, "
           "{devices: [out], role: decode, name: out" +
           pools.decoder + "}], " + pools.serving + "}\n" + pools.faults + "workload: {replay: {trace: " + path + "}" +
           pools.workload + "}\nwindow: {rule: whole}\n";
  });
}

double mean_of(const result::RunResult& run, const char* metric) {
  const result::Percentiles* all = run.latency[metric];
  REQUIRE(all);
  return all->mean;
}

const std::string kOne = "{\"arrival_s\": 0, \"prompt_tokens\": 1000, \"output_tokens\": 11}\n";

}  // namespace

// 100 blocks of 16. The first has its token at 0.0809 s (80 ms of prompt, 0.8 ms of entries, 0.1 ms for the last token
// of the prompt) and takes 149 steps, of which one has the last token of the second's prompt: until 1.571 s. The two
// fill the pool at 0.88 s (55 and 45 blocks); the second is preempted, and needs 45 blocks again that are free at 1.571
// s: 712 tokens in 71.2 ms. Entries of the third, who came at 1.2 s, are sent then, too, and its first token comes with
// the next step: at 1.6422 + 0.0101 s.
TEST_CASE("what a full decoder has preempted goes before what another replica has computed since") {
  const result::RunResult run = replayed(
      "{\"arrival_s\": 0, \"prompt_tokens\": 800, \"output_tokens\": 150}\n"
      "{\"arrival_s\": 0.01, \"prompt_tokens\": 640, \"output_tokens\": 300}\n"
      "{\"arrival_s\": 1.2, \"prompt_tokens\": 320, \"output_tokens\": 300}\n",
      {kFast, "kv_by_layer: false, first_token: recomputed", ", kv_blocks: 100", "", ""});
  CHECK(run.kv.preemptions == 1);
  CHECK(run.latency["ttft_s"]->max == approx(0.4523));
}

// The entries of the first call, 800 MB, are on their way from 0.8 s and given up at 0.9 s; those of the second, 100
// MB, leave at 0.95 s and have the link to themselves.
TEST_CASE("entries of a call that was given up move no more") {
  const result::RunResult run = replayed(
      "{\"arrival_s\": 0, \"prompt_tokens\": 8000, \"output_tokens\": 11}\n"
      "{\"arrival_s\": 0.85, \"prompt_tokens\": 1000, \"output_tokens\": 5}\n",
      {kSlow, "kv_by_layer: false, first_token: prefill", "", "", ", timeout: 900 ms"});
  CHECK(run.requests.timed_out == 1);
  CHECK(run.requests.completed == 1);
  CHECK(mean_of(run, "e2e_s") == approx(0.1 + 0.111 + 4 * 0.01));
}

// The prompt is done at 0.1 s; the link fails at 0.15 s, and the decoder computes the prompt until 0.25 s. 10 steps.
TEST_CASE("a first token that was to come with the entries is lost with them") {
  for (const char* first : {"transferred", "recomputed"}) {
    const result::RunResult run =
        replayed(kOne, {kSlow, std::string("kv_by_layer: false, first_token: ") + first, "",
                        "faults: {schedule: [{at: 150 ms, lasts: 20 ms, group: in, node: 0, uplink: 0 GB/s}]}\n", ""});
    CAPTURE(first);
    CHECK(mean_of(run, "ttft_s") == approx(0.25));
    CHECK(mean_of(run, "e2e_s") == approx(0.35));
    CHECK(mean_of(run, "tpot_s") == approx(0.01));
    CHECK(run.requests.completed == 1);
    CHECK(run.tokens.recomputed == 1000);
  }
}

// Without anybody that decodes a replica is started when the first chunk starts, at 0: 50 ms of boot and 16.06 GB of
// weights at 1 TB/s, 66.1 ms. Entries take 111 ms from then on, which is longer than the prompt: until 177.1 ms.
TEST_CASE("layer by layer a decoder is looked for from the first chunk on") {
  const Pools none = {
      kSlow,
      "kv_by_layer: true, first_token: prefill, " + kColdStart +
          ", controllers: [{policy: autoscale, pool: out, min: 0, up_at: 3, down_at: 0.5, interval: 200 ms}]",
      "",
      "",
      "",
      2};
  const result::RunResult run = replayed(kOne, none);
  CHECK(mean_of(run, "ttft_s") == approx(0.1));
  CHECK(mean_of(run, "e2e_s") == approx(0.1771 + 0.1).epsilon(1e-3));

  // The decoder is lost at 50 ms: the other one is asked then, and the entries are there at 161 ms.
  const result::RunResult lost =
      replayed(kOne, {kSlow, "kv_by_layer: true, first_token: transferred, " + kColdStart, "",
                      "faults: {schedule: [{at: 50 ms, lasts: 20 ms, group: out, replica: 0}]}\n", "", 2});
  CHECK(mean_of(lost, "ttft_s") == approx(0.161));
}

// The decoder is lost at 0.15 s, with half of the entries, and serves again 20 ms, 50 ms and 16.06 GB at 1 TB/s later:
// 0.0861 s without a decoder, 0.05 s and then 0.111 s between the pools.
TEST_CASE("a call is held while there is no decoder for it, not while its entries move") {
  const result::RunResult run =
      replayed(kOne, {kSlow, "kv_by_layer: false, first_token: transferred, " + kColdStart, "",
                      "faults: {schedule: [{at: 150 ms, lasts: 20 ms, group: out, replica: 0}]}\n", ""});
  CHECK(mean_of(run, "ttft_s") == approx(0.15 + 0.0861 + 0.111).epsilon(1e-3));
  REQUIRE(run.breakdown.requests);
  const auto& parts = run.breakdown.requests->parts;
  const std::map<std::string, double> spent(parts.begin(), parts.end());
  CHECK(spent.at("held") == approx(0.0861).epsilon(1e-3));
  CHECK(spent.at("moving") == approx(0.161));
}

}  // namespace kv_transfer_run_test
