// SPDX-License-Identifier: Apache-2.0
// Runs come to an end, to the same one on both clocks, and nothing is counted beyond it.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
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

void check_both_clocks(const scenario::Scenario& scenario) {
  const std::string simgrid = json_on_simgrid(scenario);
  CHECK(simgrid.size() > 1000);
  CHECK(simgrid == result::to_json(run_on_event_queue(scenario)));
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

namespace {

// One prompt in one step on one device: what `more` does to it.
result::RunResult one_step(const std::string& more) {
  return run_on_event_queue(*scenario_of(R"(schema: scenario/1
model: qwen2.5-1.5b
hardware: {devices: [{preset: lpddr-pim}]}
workload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, value: 1000}, output: {kind: fixed, value: 1}}}
)" + more));
}

double dynamic_joules(const result::RunResult& result) {
  double joules = result.energy->total_joules;
  for (const auto& [component, some] : result.energy->joules)
    if (component == "static") joules -= some;
  return joules;
}

void check_cut(const result::RunResult& cut, const result::RunResult& whole, double share) {
  CHECK(cut.simulated_s == approx(whole.simulated_s * share).epsilon(1e-9));
  CHECK(dynamic_joules(cut) == approx(dynamic_joules(whole) * share).epsilon(1e-9));
  CHECK(cut.work.flops == approx(whole.work.flops * share).epsilon(1e-9));
  REQUIRE(cut.utilisation.size() == 1);
  CHECK(cut.utilisation[0].busy == approx(1).epsilon(1e-9));
  CHECK(cut.energy->mean_w <= cut.energy->peak_w * (1 + 1e-9));
  CHECK(cut.tokens.emitted == 0);
  CHECK(cut.tokens.computed == 0);
  CHECK(cut.steps == 0);
}

std::string seconds_text(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g s", seconds);
  return text;
}

}  // namespace

TEST_CASE("what of a step counts that runs when the run ends? (INV-6, INV-8)") {
  const result::RunResult whole = one_step("");
  REQUIRE(whole.steps == 1);
  REQUIRE(whole.tokens.emitted == 1);
  for (const double share : {0.25, 0.9}) {
    check_cut(one_step("horizon: " + seconds_text(whole.simulated_s * share) + "\n"), whole, share);
  }
}

// A prompt of 4,000 tokens takes 0.4 s, each further token 10 ms, all of it at 500 W. At 0.455 s six tokens are there
// (at 0.4, 0.41 ... 0.45 s) for 0.455 s x 500 W = 227.5 J: 37.92 J each. The step that ends at 0.46 s, and under
// asynchronous scheduling the one behind it, are planned and emit nothing. A call that is given up at 0.455 s has the
// token of the step that runs: seven for 230 J. The step behind it is cut short as the run ends with the call.
TEST_CASE("joules of a token are over the tokens that were emitted when the run ends") {
  struct Ends {
    const char* override;
    double at;
    std::int64_t tokens;
  };
  for (const Ends ends : {Ends{"horizon=0.455 s", 0.455, 6}, Ends{"workload.timeout=0.455 s", 0.46, 7}})
    for (const char* async : {"false", "true"}) {
      CAPTURE(std::string(ends.override));
      CAPTURE(async);
      const auto scenario = scenario_of(R"(schema: scenario/1
model: llama-3.1-8b
hardware: {devices: [{kind: profile, name: p, model: llama-3.1-8b, prompts: [{tokens: 1000, time: 0.1 s, kv: 1 MB}, {tokens: 5000, time: 0.5 s, kv: 5 MB}], decode: {time_per_token: 10 ms, sequences: 20}, capacity: 1 TB, kv_tokens: 1000000, idle_power: 100 W, busy_power: 500 W}]}
serving: {batcher: {policy: vllm_v1, async_scheduling: )" +
                                            std::string(async) + R"(}}
workload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, value: 4000}, output: {kind: fixed, value: 11}}}
)",
                                        {ends.override});
      const result::RunResult result = run_on_event_queue(*scenario);
      CHECK(result.simulated_s == approx(ends.at).epsilon(1e-9));
      CHECK(result.tokens.emitted == ends.tokens);
      REQUIRE(result.energy->joules_per_output_token);
      CHECK(*result.energy->joules_per_output_token ==
            approx(500 * ends.at / static_cast<double>(ends.tokens)).epsilon(1e-9));
    }
}

// Chunks, preemptions, drafts, streams of a pipeline, answers of one token.
TEST_CASE("tokens of a part of a run are those of the run, wherever it stops (INV-5)") {
  for (const char* serving :
       {"{batcher: {policy: vllm_v1, max_num_batched_tokens: 512}, kv_blocks: 400}", "{batcher: vllm_v0}",
        "{batcher: {policy: vllm_v1}, speculation: {tokens: 3, acceptance: 0.6}}",
        "{batcher: sglang, pipeline_parallel: 2, pipeline_batches: 2}", "{batcher: orca}",
        "{pools: [{devices: [a], role: prefill}, {devices: [b], role: decode}]}"})
    for (const char* horizon : {"1.003 s", "1.71 s", "2.2503 s", "3.1 s", "4.444 s"}) {
      CAPTURE(serving);
      CAPTURE(horizon);
      const result::RunResult result = run_on_event_queue(*scenario_of(std::string(R"(schema: scenario/1
model: llama-3.1-8b
hardware: {devices: [{name: a, preset: h100-sxm, count: 2}, {name: b, preset: h100-sxm, count: 2}], fabric: {groups: {a: {node: dgx-h100}, b: {node: dgx-h100}}}}
serving: )") + serving +
                                                                       R"(
workload: {requests: 300, arrivals: {kind: poisson, rate: 40 /s}, stream: {kind: lengths, prompt: {kind: log_normal, mean: 800, cv: 1, max: 4000}, output: {kind: uniform, min: 1, max: 60}}}
horizon: )" + horizon + "\n"));
      REQUIRE(result.overall.energy.joules_per_output_token);
      CHECK(result.overall.energy.total_joules / *result.overall.energy.joules_per_output_token ==
            approx(static_cast<double>(result.tokens.emitted)).epsilon(1e-9));
    }
}

namespace {

// Five calls at once, at a front end that takes them one after the other.
std::optional<scenario::Scenario> slow_front_end(const std::string& per_call, const std::string& preset,
                                                 const std::string& output) {
  return scenario_of(R"(schema: scenario/1
model: llama-3.2-1b
hardware: {devices: [{preset: )" +
                     preset + R"(}]}
serving: {front_end: {per_call: )" +
                     per_call + R"(}}
workload: {arrivals: {kind: burst, programs: 5}, stream: {kind: lengths, prompt: {kind: fixed, value: 100}, output: {kind: fixed, value: )" +
                     output + "}}}\n");
}

}  // namespace

// Answered at 1e9, 2e9, 3e9 and 4e9 s; the fifth would be at 5e9, beyond the 2^32 s that a clock has.
TEST_CASE("a run ends where its clock does, and says so") {
  const auto scenario = slow_front_end("1000000000 s", "l4", "20");
  const result::RunResult result = run_on_event_queue(*scenario);
  CHECK(result.simulated_s == 4294967296.0);
  CHECK(result.requests.completed == 4);
  CHECK(result.requests.queued + result.requests.waiting + result.requests.running == 1);
  CHECK(result.verdict.state == metrics::Verdict::State::truncated);
  CHECK(result.verdict.reasons == std::vector<std::string>{"the clock ended, after 136 years, calls unanswered: 1"});
  check_both_clocks(*scenario);
}

// vLLM wants a budget of max_model_len there; with less, one that is preempted late would never be computed again.
TEST_CASE("calls that no budget takes whole are rejected, and preempted ones come back") {
  const auto run = [](const char* output) {
    return run_on_event_queue(*scenario_of(
        R"(schema: scenario/1
model: llama-3.2-1b
hardware: {devices: [{preset: l4}]}
serving: {batcher: {policy: vllm_v1, chunked_prefill: false, enable_prefix_caching: false, max_num_batched_tokens: 256, max_num_seqs: 8}, kv_blocks: 20, block_size: 16}
workload: {arrivals: {kind: burst, programs: 2}, stream: {kind: lengths, prompt: {kind: fixed, value: 120}, output: {kind: fixed, value: )" +
        std::string(output) + "}}}\n"));
  };
  const result::RunResult fits = run("136");  // 2 x 256 tokens in 320
  CHECK(fits.requests.completed == 2);
  CHECK(fits.kv.preemptions > 0);
  const result::RunResult too_long = run("137");
  CHECK(too_long.requests.completed == 0);
  CHECK(too_long.requests.dropped == 2);
}

TEST_CASE("answers that come in one report have no rate of tokens of their own") {
  const auto result = run_on_event_queue(*scenario_of(R"(schema: scenario/1
model: llama-3.2-1b
hardware: {devices: [{preset: l4}]}
serving: {engine: {name: sglang, version: "0.4.6", stream_interval: 10}}
workload: {arrivals: {kind: burst, programs: 5}, stream: {kind: lengths, prompt: {kind: fixed, value: 100}, output: {kind: fixed, value: 5}}}
)"));
  CHECK(result.requests.completed == 5);
  CHECK_FALSE(result.throughput.output_tokens_per_s_per_user);
}

// At 5e7 s a double tells 7.5 ns apart. Steps of 6 ms that all wait for memory are rounded to that.
TEST_CASE("parts of a device work as long as its steps do, late in a run as well (INV-8)") {
  for (const char* per_call : {"10000000 s", "100000000 s", "800000000 s"})
    for (const char* preset : {"sa8255p", "snapdragon-8-elite"})
      for (const char* output : {"1", "2", "5", "9", "17"}) {
        CAPTURE(per_call);
        CAPTURE(preset);
        CAPTURE(output);
        CHECK(run_on_event_queue(*slow_front_end(per_call, preset, output)).requests.completed == 5);
      }
}

TEST_CASE("what of the steps counts that run when the last call is given up? (INV-6, INV-8)") {
  const result::RunResult result = run_on_event_queue(*scenario_of(R"(schema: "scenario/1"
model: {preset: gemma-2-2b, weights: int4}
hardware: {devices: [{name: g0, preset: cim-edge}]}
serving: {cold_start: {boot: 1 s, bandwidth: 20 GB/s}}
workload: {arrivals: {kind: burst, programs: 15}, requests: 1, stream: {kind: chat, turns: {kind: fixed, value: 2}, message: {kind: log_normal, mean: 90, cv: 1.03, max: 540}, output: {kind: quantiles, shares: [0, 0.5, 1], values: [1, 39, 117]}, think: {kind: gamma, mean: 3 s, cv: 2.39}, context: 4000}, timeout: 0.01 s}
seed: 17
)"));
  CHECK(result.requests.timed_out > 0);
  REQUIRE(result.utilisation.size() == 1);
  CHECK(result.utilisation[0].busy <= 1 + 1e-9);
  CHECK(result.energy->mean_w <= result.energy->peak_w * (1 + 1e-9));
}

TEST_CASE("do the tokens that a run reports add up where no streamed call completed? (INV-5)") {
  const auto scenario = scenario_of(R"(schema: "scenario/1"
model: {preset: phi-3.5-mini}
hardware: {devices: [{name: g0, preset: rtx-pro-6000}, {name: g1, preset: agx-orin}, {name: g2, preset: mi300x}]}
serving: {batcher: {policy: streaming}, kv_blocks: 201, front_end: {per_call: 5 ms, per_token: 4 us}, pools: [{name: p0, devices: [g0]}, {name: p1, devices: [g1]}, {name: p2, devices: [g2]}], placement: in_order, cold_start: {boot: 0 s, bandwidth: 20 GB/s}, streaming_input: true}
slo: {classes: {a: {ttft: 500 ms}, b: {e2e: 10 s, tpot: 50 ms}}}
workload: {arrivals: {kind: poisson, rate: 0.7062 /s}, requests: 24, mixture: [{weight: 2, stream: {kind: streamed_retrieval, chunks: {kind: quantiles, shares: [0, 0.5, 1], values: [1, 2, 6]}, first: {kind: log_normal, mean: 0.3 s, cv: 2.96}, gap: {kind: log_normal, mean: 0.2 s, cv: 1.81}, output: {kind: uniform, min: 17, max: 68}, mode: update, context: {kind: gamma, mean: 814, cv: 1.73, max: 4884}, context_max: 6000}, priority: 0, slo_class: a}, {weight: 1, stream: {kind: lengths, prompt: {kind: zipf, min: 1, max: 1454, exponent: 1.04}, output: {kind: empirical, values: [21, 42, 1], weights: [3, 1, 0.5]}}, slo_class: b}], timeout: 0.5 s}
faults: {schedule: [{at: 0.5 s, group: g0, device: 0}]}
seed: 50
)");
  const auto tokens = nlohmann::json::parse(result::to_json(run_on_event_queue(*scenario)))["tokens"];
  const auto count = [&](const char* key) { return tokens.value(key, std::int64_t{0}); };
  CHECK(count("invalidated") > 0);
  CHECK(count("computed") + count("reused") ==
        count("prompt") + count("recomputed") + count("invalidated") + count("discarded"));
}

TEST_CASE("what is said of devices that break faster than they start?") {
  const std::string said = testing::mistakes(R"(schema: scenario/1
model: llama-3.2-1b
hardware: {devices: [{name: g, preset: l4, count: 1}]}
serving: {cold_start: {boot: 20 s}}
workload: {arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, value: 50}, output: {kind: fixed, value: 5}}}
faults: {mtbf: {g: {mtbf: 10 ms, mttr: 1 s}}}
)");
  CHECK(testing::holds(said, "s.yaml:6:"));
  CHECK(testing::holds(said, "breaks every 10 ms on average, and takes 20"));
}
