// SPDX-License-Identifier: Apache-2.0
// A world is built from a scenario and serves the programs that it is handed.
#include "sim/world/world.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "sim/result/result_json.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"
#include "tests/support/serving_bench.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::scenario_of;

namespace {

// Each step takes 10 ms on the host, and nothing beside: peaks and bandwidth are out of reach.
std::string slow_host(int requests) {
  return "schema: scenario/1\nmodel: llama-3.1-8b\n"
         "hardware: {devices: [{kind: roofline, name: device, accuracy: made up, peak_bf16: 1e30 flop/s, "
         "memory_bandwidth: 1e30 B/s, memory_capacity: 80 GB, compute_efficiency: 1, attention_efficiency: 1, "
         "memory_efficiency: 1, per_operator: 0 s, per_step: 10 ms, per_request: 0 s, tdp: 700 W, idle_power: 100 W, "
         "compute_energy: 0 J/flop, memory_energy: 0 J/B, link_energy: 0 J/B}]}\n"
         "serving: {batcher: vllm_v1}\n"
         "workload: {requests: " +
         std::to_string(requests) +
         ", arrivals: {kind: poisson, rate: 1 /s}, stream: {kind: lengths, prompt: {kind: fixed, value: 50}, output: "
         "{kind: fixed, value: 2}}}\n";
}

struct Looker : world::Watcher {
  std::vector<double> ends;  // of steps
  int requests = 0, power = 0;
  void on_request(const serving::Request&, serving::Outcome, Seconds) override { ++requests; }
  void on_step(int, Seconds, Seconds end, std::int64_t, std::int64_t, std::int64_t, std::int64_t) override {
    ends.push_back(end.si());
  }
  void on_power(const std::string&, const metrics::PowerSeries&) override { ++power; }
};

}  // namespace

TEST_CASE("programs come from whoever is handed in: two calls, steps of 10 ms each, counted by hand") {
  const auto scenario = scenario_of(slow_host(2));
  REQUIRE(scenario);
  // The first prompt, alone, in one step and two tokens more; the second, at 1 s, in one step.
  std::vector<workloads::Program> programs = {testing::call(0.5, {{1, 100}}, 3), testing::call(1, {{2, 100}}, 1)};
  testing::ListGenerator generator(programs);
  Looker looker;
  std::vector<double> progress;
  world::Options options;
  options.kernel = world::KernelKind::event_queue;
  options.lookahead = 0;
  options.watcher = &looker;
  options.progress = [&](double share) { progress.push_back(share); };
  Diagnostics diagnostics;
  const result::RunResult result = world::World(*scenario, options, generator, diagnostics).run();
  CHECK(result.requests.completed == 2);
  CHECK(result.steps == 4);
  REQUIRE(looker.ends.size() == 4);
  CHECK(looker.ends[0] == approx(0.51));
  CHECK(looker.ends[1] == approx(0.52));
  CHECK(looker.ends[2] == approx(0.53));
  CHECK(looker.ends[3] == approx(1.01));
  CHECK(result.latency["ttft_s"]->max == approx(0.010));
  CHECK(result.latency["e2e_s"]->max == approx(0.030));
  CHECK(result.tokens.prompt == 200);
  CHECK(result.tokens.emitted == 4);
  CHECK(looker.requests == 2);
  CHECK(looker.power == 1);  // one group of devices
  CHECK(progress == std::vector<double>{0.5, 1});
}

TEST_CASE("a run is the world of its scenario with the programs of its workload") {
  const auto scenario = scenario_of(slow_host(20));
  REQUIRE(scenario);
  Diagnostics diagnostics;
  const RandomStreams streams(static_cast<std::uint64_t>(scenario->config.seed));
  const auto generator = workloads::make_generator(scenario->config.workload, scenario->workload_context(),
                                                   streams.child("workload"), diagnostics);
  REQUIRE(generator);
  world::Options options;
  options.kernel = world::KernelKind::event_queue;
  const std::string own = result::to_json(world::World(*scenario, options, *generator, diagnostics).run());
  CHECK(own == result::to_json(testing::run_on_event_queue(*scenario)));
  // A task of a call of two tokens: two steps.
  CHECK(testing::run_on_event_queue(*scenario).tokens.emitted == 40);
}
