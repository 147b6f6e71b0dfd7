// SPDX-License-Identifier: Apache-2.0
// Random scenario files with controllers and faults, from text to result.
#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

// Writes a scenario: a pool that does everything, prefill and decode pools at two sites, or both.
class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  std::string scenario() {
    const bool whole = random_.chance(0.7), handing_over = !whole || random_.chance(0.6);
    std::string devices, pools;
    if (whole) {
      devices += "    - {name: whole, preset: h100-sxm, count: " + count("whole") + "}\n";
      pools += "    - {devices: [whole]}\n";
    }
    if (handing_over) {
      devices += "    - {name: prompts, preset: h200, count: " + count("prompts") + "}\n";
      devices += "    - {name: tokens, preset: h200, count: " + count("tokens") + "}\n";
      pools += "    - {devices: [prompts], role: prefill}\n    - {devices: [tokens], role: decode}\n";
    }
    return "schema: scenario/1\nmodel: llama-3.1-8b\nhardware:\n  devices:\n" + devices +
           (handing_over ? fabric() : "") + "serving:\n  cold_start: {boot: " + seconds(2) +
           ", bandwidth: 20 GB/s}\n  batcher: " +
           one_of({"vllm_v1", "vllm_v0", "orca", "trtllm", "sglang", "sarathi", "layered"}) +
           "\n  router: " + one_of({"round_robin", "least_tokens", "prefix_affinity"}) +
           "\n  retries: " + std::to_string(random_.integer(0, 3)) + "\n  kv_by_layer: " + one_of({"true", "false"}) +
           "\n" + admission() + "  pools:\n" + pools + controllers(handing_over) + faults(handing_over) + workload() +
           "seed: " + std::to_string(random_.integer(1, 1000)) + "\n";
  }

 private:
  std::string count(const std::string& group) {
    groups_.push_back(group);
    counts_.push_back(random_.integer(2, 4));
    return std::to_string(counts_.back());
  }
  std::string seconds(double mean) { return std::to_string(1e-3 + random_.exponential(mean)) + " s"; }
  std::string one_of(const std::vector<std::string>& words) { return words[random_.below(words.size())]; }

  std::string fabric() {
    const std::string uplink = one_of({"400 Gbit/s", "10 Gbit/s", "1 Gbit/s"});
    return "  fabric:\n    groups: {prompts: {node: hgx-h200, site: here}, tokens: {node: hgx-h200, site: there}}\n"
           "    sites: {here: {uplink: " +
           uplink + ", latency: 1 ms}, there: {uplink: " + uplink + ", latency: 1 ms}}\n";
  }
  std::string admission() {
    return random_.chance(0.4) ? "  admission: {max_outstanding: " + std::to_string(random_.integer(2, 60)) +
                                     ", max_waiting: " + std::to_string(random_.integer(0, 60)) + "}\n"
                               : "";
  }
  std::string controllers(bool handing_over) {
    std::string text;
    if (random_.chance(0.7))
      text += "    - {policy: autoscale, pool: " + one_of(groups_) + ", min: " + one_of({"0", "1"}) +
              ", up_at: 6, down_at: 2, interval: " + seconds(0.5) + "}\n";
    if (handing_over && random_.chance(0.6))
      text += "    - {policy: balance, between: [{pool: prompts, above: 4}, {pool: tokens, above: 8}], interval: " +
              seconds(0.5) + ", takes: " + seconds(0.5) + "}\n";
    if (random_.chance(0.4))
      text +=
          "    - {policy: drain, at: " + seconds(4) + ", lasts: " + seconds(3) + ", group: " + one_of(groups_) + "}\n";
    return text.empty() ? "" : "  controllers:\n" + text;
  }
  std::string faults(bool handing_over) {
    std::string text = "faults:\n  schedule:\n";
    for (std::int64_t i = random_.integer(1, 4); i > 0; --i) {
      const auto group = random_.below(groups_.size());
      text += "    - {at: " + seconds(4) + (random_.chance(0.8) ? ", lasts: " + seconds(2) : "") +
              ", group: " + groups_[group] + ", device: " + std::to_string(random_.integer(0, counts_[group] - 1)) +
              "}\n";
    }
    if (handing_over)
      text += "    - {at: " + seconds(3) + ", lasts: " + seconds(2) +
              ", site: here, uplink: " + one_of({"0 B/s", "100 Mbit/s"}) + "}\n    - {at: " + seconds(3) +
              ", lasts: " + seconds(2) + ", group: tokens, node: 0, uplink: 0 B/s}\n";
    if (random_.chance(0.5)) text += "  mtbf: {" + one_of(groups_) + ": {mtbf: 8 s, mttr: 1 s}}\n";
    return text;
  }
  std::string workload() {
    return "workload:\n  requests: 150\n  arrivals: {kind: poisson, rate: " + one_of({"10 /s", "40 /s"}) + "}\n" +
           (random_.chance(0.3) ? "  timeout: " + seconds(5) + "\n" : "") +
           "  stream: {kind: lengths, prompt: {kind: log_normal, mean: 800, cv: 1, max: 8000}, output: {kind: "
           "geometric, mean: 100, max: 500}}\n";
  }

  RandomStream random_;
  std::vector<std::string> groups_;
  std::vector<std::int64_t> counts_;
};

}  // namespace

TEST_CASE("random scenario files under faults: every call ends, the same bytes with lookahead and without (INV-14)") {
  std::int64_t retried = 0, failed = 0, conversions = 0, losses = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const std::string text = Writer(seed).scenario();
    CAPTURE(text);
    const auto scenario = scenario_of(text);
    REQUIRE(scenario);
    const result::RunResult result = run_on_event_queue(*scenario);  // checks the invariants
    CHECK(result::to_json(result) == result::to_json(run_on_event_queue(*scenario, 0)));
    const serving::Counters& calls = result.requests;
    CHECK(calls.injected == 150);
    CHECK(calls.queued + calls.running + calls.waiting == 0);
    std::int64_t explained = 0;
    for (const auto& [reason, count] : result.reasons) explained += count;
    CHECK(explained == calls.dropped + calls.failed);
    failed += calls.failed;
    REQUIRE(result.fleet);
    retried += result.fleet->retried;
    for (const result::PoolLife& pool : result.fleet->pools) {
      conversions += pool.conversions;
      losses += pool.losses;
      CHECK(pool.available >= 0);
      CHECK(pool.available <= 1);
    }
  }
  CHECK(retried > 100);
  CHECK(failed > 0);
  CHECK(conversions > 0);
  CHECK(losses > 30);
}
