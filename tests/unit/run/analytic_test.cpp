// SPDX-License-Identifier: Apache-2.0
// A scenario's pools, links and lengths as the arithmetic of selective offload sees them.
#include "sim/run/analytic.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::scenario_of;

namespace {

constexpr const char* kRest =
    ", model: llama-3.1-8b, decode: {time_per_token: 25 ms, sequences: 20}, capacity: 1 TB, kv_tokens: 1000000, "
    "idle_power: 100 W, busy_power: 1 kW, ";

// Two instances elsewhere that take 0.5 s for 1,000 tokens and 1 s for 3,000; at home one that takes 1 s and 2 s, and
// two that decode. Prompts are as often of 1,000 as of 3,000 tokens, answers of 100.
std::string offloading(const std::string& uplink) {
  const std::string fast = std::string("{kind: profile, name: elsewhere, count: 2") + kRest +
                           "prompts: [{tokens: 1000, time: 0.5 s, kv: 100 MB}, {tokens: 3000, time: 1 s, kv: 180 MB}]}";
  const std::string slow = "prompts: [{tokens: 1000, time: 1 s, kv: 100 MB}, {tokens: 3000, time: 2 s, kv: 180 MB}]}";
  const std::string node =
      "node: {devices: 1, port: 100 GB/s, port_latency: 1 us, uplink: 100 GB/s, uplink_latency: 1 us}";
  return "schema: scenario/1\nmodel: llama-3.1-8b\nhardware:\n  devices:\n    - " + fast +
         "\n    - {kind: profile, name: prompts, count: 1" + kRest + slow +
         "\n    - {kind: profile, name: tokens, count: 2" + kRest + slow +
         "\n  fabric:\n    groups:\n      elsewhere: {" + node + ", site: a}\n      prompts: {" + node +
         ", site: b}\n      tokens: {" + node + ", site: b}\n    sites: {a: {uplink: " + uplink +
         ", latency: 1 ms}, b: {uplink: 1 TB/s, latency: 1 ms}}\n" +
         "serving:\n  first_token: prefill\n  pools:\n    - {devices: [elsewhere], role: prefill, accepts: "
         "{longer_than: 2000}}\n"
         "    - {devices: [prompts], role: prefill, accepts: {up_to: 2000}}\n    - {devices: [tokens], role: decode}\n"
         "workload:\n  requests: 10\n  arrivals: {kind: poisson, rate: 1 /s}\n"
         "  stream: {kind: lengths, prompt: {kind: empirical, values: [1000, 3000]}, output: {kind: fixed, value: "
         "100}}\n";
}

run::Analysis analysis_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto scenario = scenario_of(text, overrides);
  Diagnostics diagnostics;
  const auto analysis = run::analyse(*scenario, diagnostics);
  REQUIRE_MESSAGE(analysis, diagnostics.text(false));
  return *analysis;
}

// Half of 100,000 draws are of one length, to four standard errors: of 0.0016 in 0.5.
constexpr double kDrawn = 4 * 0.0016 / 0.5;

}  // namespace

TEST_CASE("capacities follow from the pools: the slowest of prompts elsewhere, prompts at home and decodes counts") {
  const auto analysis = analysis_of(offloading("1 TB/s"));
  const run::OffloadCapacity& c = analysis.written.capacity;
  CHECK(c.offloaded == approx(0.5).epsilon(kDrawn));
  CHECK(c.remote == approx(2).epsilon(kDrawn));  // 2 / 1 s
  CHECK(c.local == approx(1).epsilon(kDrawn));
  CHECK(c.decode == approx(2 * 20 / (100 * 0.025)));
  CHECK(c.total == approx(2).epsilon(kDrawn));  // 1 / 0.5
  CHECK(c.mean_ttft.si() == approx(1).epsilon(kDrawn));
  CHECK(analysis.written.threshold == 2000);
  REQUIRE(analysis.best);
  CHECK(analysis.best->local + analysis.best->decode == 3);
  CHECK(analysis.best->capacity.total >= c.total);
  CHECK(analysis.warnings.empty());
}

TEST_CASE("a slow link is what limits: 90 MB/s carry half a prompt of 180 MB a second") {
  const auto analysis = analysis_of(offloading("90 MB/s"));
  const run::OffloadCapacity& c = analysis.written.capacity;
  CHECK(c.remote == approx(0.5).epsilon(kDrawn));
  CHECK(c.total == approx(1).epsilon(kDrawn));
  CHECK(c.egress.si() == approx(90e6).epsilon(kDrawn));
  CHECK(c.p90_ttft.si() == approx(2).epsilon(kDrawn));  // moving, not computing
}

// Two instances on a node each send 180 MB/s over two uplinks of 90 MB/s: a prompt of 180 MB a second. Two of the eight
// that a node has get a quarter of its uplink.
TEST_CASE("the uplinks of the nodes that instances stand in limit as those of sites do") {
  const std::string uplink = "hardware.fabric.groups.elsewhere.node.uplink=";
  CHECK(analysis_of(offloading("1 TB/s"), {uplink + "90 MB/s"}).written.capacity.remote == approx(1).epsilon(kDrawn));
  CHECK(analysis_of(offloading("1 TB/s"), {uplink + "360 MB/s", "hardware.fabric.groups.elsewhere.node.devices=8"})
            .written.capacity.remote == approx(0.5).epsilon(kDrawn));
}

// One prompt of 180 MB passes one uplink of 90 MB/s in 2 s, however many other instances have one, too.
TEST_CASE("a call's entries pass the network of one instance on either side, not that of all") {
  const std::string nodes = "hardware.fabric.groups.";
  for (const char* side : {"elsewhere", "tokens"})
    CHECK(analysis_of(offloading("1 TB/s"), {nodes + side + ".node.uplink=90 MB/s"}).written.capacity.p90_ttft.si() ==
          approx(2).epsilon(kDrawn));
}

// Of three instances at home those that decode receive 30 MB/s each.
TEST_CASE("the best split is judged by the links that its own decode instances have") {
  const auto analysis = analysis_of(offloading("1 TB/s"), {"hardware.fabric.groups.tokens.node.uplink=30 MB/s"});
  CHECK(analysis.written.capacity.egress.si() == approx(60e6).epsilon(kDrawn));
  REQUIRE(analysis.best);
  CHECK(analysis.best->capacity.egress.si() <= 30e6 * static_cast<double>(analysis.best->decode) * (1 + kDrawn));
}

TEST_CASE("the best split of many instances at home loses no decode that a prompt instance could have been") {
  const auto analysis = analysis_of(offloading("1 TB/s"), {"hardware.devices[prompts].count=9"});
  CHECK(analysis.written.capacity.total == approx(4).epsilon(kDrawn));  // 2 / 0.5 elsewhere, for 9 / 0.5 at home
  // All prompts at home: 8 instances answer 8 / 1.5 a second, 3 decode 3 x 8, and those elsewhere may take more.
  REQUIRE(analysis.best);
  CHECK(analysis.best->capacity.total > 8 / 1.5);
}

TEST_CASE("as events, a KV transfer moves the bytes of the profile: 180 MB of a prompt of 3,000 tokens") {
  const auto scenario = scenario_of(offloading("1 TB/s"), {"workload.requests=40"});
  const result::RunResult result = llmscape::testing::run_on_event_queue(*scenario);
  REQUIRE(result.pools.size() == 3);
  const std::int64_t offloaded = result.pools[0].prefill_tokens / 3000;
  CHECK(offloaded > 0);
  CHECK(offloaded < 40);
  const auto uplink = std::ranges::find(result.links, "site a, out", &result::LinkResult::name);
  REQUIRE(uplink != result.links.end());
  CHECK(uplink->bytes == approx(static_cast<double>(offloaded) * 180e6));
}

TEST_CASE("profiles and a threshold that follows the queues give the same bytes on both kernels (INV-14)") {
  const auto scenario = scenario_of(
      offloading("1 TB/s"), {"workload.requests=60", "workload.arrivals.rate=1.5 /s",
                             "serving.controllers=[{policy: threshold, longer: elsewhere, shorter: prompts, usual: "
                             "2000, max: 100000, interval: 1 s}]"});
  const std::string queue = result::to_json(llmscape::testing::run_on_event_queue(*scenario));
  CHECK(queue == llmscape::testing::json_on_simgrid(*scenario));
  CHECK(queue == result::to_json(llmscape::testing::run_on_event_queue(*scenario, 0)));
}

TEST_CASE("a link that transfers share and fill gives the same bytes on both kernels (INV-14)") {
  for (const char* uplink : {"80 MB/s", "90 MB/s", "100 MB/s", "120 MB/s"}) {  // 1.5 / 2 prompts a second bring 135 MB
    CAPTURE(uplink);
    const auto scenario = scenario_of(
        offloading(uplink), {"workload.requests=200", "workload.arrivals.rate=1.5 /s",
                             "serving.controllers=[{policy: threshold, longer: elsewhere, shorter: prompts, usual: "
                             "2000, max: 100000, interval: 1 s}]"});
    const result::RunResult result = llmscape::testing::run_on_event_queue(*scenario);
    const auto site = std::ranges::find(result.links, "site a, out", &result::LinkResult::name);
    REQUIRE(site != result.links.end());
    CHECK(site->use > 0.7);
    CHECK(result::to_json(result) == llmscape::testing::json_on_simgrid(*scenario));
    CHECK(result::to_json(result) == result::to_json(llmscape::testing::run_on_event_queue(*scenario, 0)));
  }
}

TEST_CASE("lengths beyond a profile are said") {
  const auto analysis = analysis_of(offloading("1 TB/s"), {"workload.stream.prompt.values=[900, 3000]"});
  REQUIRE(analysis.warnings.size() == 1);
  CHECK(analysis.warnings[0].find("prompts goes from 1000 to 3000 tokens") != std::string::npos);
}

TEST_CASE("what is no such system is refused") {
  for (const char* change : {"serving.pools[0].role=any", "hardware.fabric.groups.elsewhere.site=b"}) {
    CAPTURE(change);
    const auto scenario = scenario_of(offloading("1 TB/s"), {change});
    Diagnostics diagnostics;
    CHECK_FALSE(run::analyse(*scenario, diagnostics));
    CHECK(diagnostics.errors() == 1);
  }
  const auto scenario = scenario_of(offloading("1 TB/s"), {"hardware.devices[0]={name: elsewhere, preset: h200}"});
  Diagnostics diagnostics;
  CHECK_FALSE(run::analyse(*scenario, diagnostics));
  CHECK(diagnostics.text(false).find("kind 'profile'") != std::string::npos);
}
