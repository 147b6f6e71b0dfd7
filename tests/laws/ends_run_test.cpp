// SPDX-License-Identifier: Apache-2.0
// Runs come to an end, to the same one on both clocks, and nothing is counted beyond it.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::json_on_simgrid;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

// Two calls at once on two devices: their last steps end far from where the clock stood before.
constexpr const char* kTwoCalls = R"(schema: scenario/1
model: llama-3.2-1b
hardware: {devices: [{preset: l4, count: 2}]}
serving: {batcher: vllm_v0}
workload: {arrivals: {kind: burst, programs: 2}, stream: {kind: lengths, prompt: {kind: fixed, value: 100}, output: {kind: uniform, min: 2, max: 60}}}
)";

// Prompts and answers on two sites; `profile` is that of the uplink between them.
std::string two_sites(const std::string& profile, const std::string& workload) {
  return R"(schema: scenario/1
model: llama-3.1-8b
hardware:
  devices: [{name: p, preset: h100-sxm, count: 1}, {name: d, preset: h100-sxm, count: 2}]
  fabric:
    groups: {p: {node: dgx-h100, site: x}, d: {node: dgx-h100, site: y}}
    sites: {x: {uplink: 10 Gbit/s, latency: 5 ms, profile: [)" +
         profile + R"(]}, y: {uplink: 10 Gbit/s, latency: 1 ms}}
serving: {pools: [{devices: [p], role: prefill}, {devices: [d], role: decode}]}
workload: {)" +
         workload + "}\n";
}

constexpr const char* kFails = "{at: 3 s, uplink: 0 Gbit/s}, {at: 9 s, uplink: 10 Gbit/s}";
constexpr const char* kRecovers = "{at: 1 s, uplink: 1 Gbit/s}, {at: 2 s, uplink: 10 Gbit/s}";
constexpr const char* kPoisson =
    "arrivals: {kind: poisson, rate: 5 /s}, requests: 40, stream: {kind: lengths, prompt: {kind: log_normal, mean: "
    "800, cv: 1, max: 4000}, output: {kind: uniform, min: 10, max: 60}}";
constexpr const char* kPeriodic =
    "arrivals: {kind: periodic, rate: 5 /s}, requests: 12, stream: {kind: lengths, prompt: {kind: fixed, value: 800}, "
    "output: {kind: fixed, value: 20}}";

void check_both_clocks(const run::Scenario& scenario) {
  const std::string simgrid = json_on_simgrid(scenario);
  CHECK(simgrid.size() > 1000);
  CHECK(simgrid == run::to_json(run_on_event_queue(scenario)));
}

}  // namespace

TEST_CASE("does a run of two calls end, whatever the last bits of their steps? (INV-14)") {
  for (const char* seed : {"seed=7", "seed=146"}) check_both_clocks(*scenario_of(kTwoCalls, {seed}));
  for (const char* rate : {"0.33 s", "0.36 s", "0.4 s", "0.44 s", "0.48 s"}) {
    CAPTURE(rate);
    check_both_clocks(*scenario_of(R"(schema: scenario/1
model: llama-3.1-70b
hardware: {devices: [{preset: a100-80, count: 2}]}
serving: {tensor_parallel: 2, gpu_memory_utilization: 0.95, batcher: {policy: vllm_v1, async_scheduling: false}}
workload: {arrivals: {kind: periodic, rate: 1 /s}, requests: 2, stream: {kind: lengths, prompt: {kind: fixed, value: 100}, output: {kind: fixed, value: 20}}}
)",
                                   {"workload.arrivals.rate=" + std::to_string(1 / std::atof(rate)) + " /s"}));
  }
}

TEST_CASE("do both clocks agree where an uplink fails or recovers? (INV-14)") {
  for (const char* seed : {"seed=1", "seed=2", "seed=3", "seed=4", "seed=5", "seed=6"}) {
    CAPTURE(seed);
    check_both_clocks(*scenario_of(two_sites(kFails, kPoisson), {seed}));
    check_both_clocks(*scenario_of(two_sites(kRecovers, kPoisson), {seed}));
  }
  check_both_clocks(*scenario_of(two_sites(kRecovers, kPeriodic)));
}
