// SPDX-License-Identifier: Apache-2.0
// Whole scenarios with controllers and faults, against the same ones without.
#include <doctest/doctest.h>

#include "models/memory.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::holds;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

std::string chat(int count, const std::string& serving) {
  return "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{name: gpus, preset: h100-sxm, count: " +
         std::to_string(count) + "}]}\n" + serving + "workload: {preset: chat-1k, requests: 200}\n";
}

// One call that is transferred from a node to another one of the same site.
result::RunResult handed_over(const std::string& faults) {
  return run_on_event_queue(*scenario_of(R"(schema: scenario/1
model: llama-3.1-8b
hardware:
  devices: [{name: prompts, preset: h200}, {name: tokens, preset: h200}]
  fabric: {groups: {prompts: {node: hgx-h200}, tokens: {node: hgx-h200}}}
serving: {kv_by_layer: false, first_token: prefill, pools: [{devices: [prompts], role: prefill}, {devices: [tokens], role: decode}]}
workload:
  requests: 1
  arrivals: {kind: periodic, rate: 0.001 /s}
  stream: {kind: lengths, prompt: {kind: fixed, value: 1000}, output: {kind: fixed, value: 10}}
)" + faults));
}

}  // namespace

TEST_CASE("devices whose replicas are off draw nothing: a pool scaled down to one replica costs what one costs") {
  const std::string scaled =
      "serving: {cold_start: {boot: 1 s, bandwidth: 10 GB/s}, controllers: [{policy: autoscale, min: 1, up_at: 1000, "
      "down_at: 0, interval: 1 s}]}\n";
  const result::RunResult of_four = run_on_event_queue(*scenario_of(chat(4, scaled)));
  const result::RunResult of_one = run_on_event_queue(*scenario_of(chat(1, "")));
  CHECK(of_four.simulated_s == of_one.simulated_s);
  CHECK(of_four.energy->total_joules == approx(of_one.energy->total_joules).epsilon(1e-12));
  CHECK(of_four.energy->joules == of_one.energy->joules);
  REQUIRE(of_four.fleet);
  CHECK(of_four.fleet->pools[0].replica_s == of_one.simulated_s);
  CHECK(of_four.fleet->pools[0].available == 1);
}

// Two replicas of four H100s each at 4 /h a device; one device of the second is down from 5 to 15 s: all eight are
// rented to the end, and idle when they do nothing. For good, the four of that replica are paid until 5 s.
TEST_CASE("a replica under repair is rented and draws idle power, one that is lost for good neither") {
  const auto run_with = [](const std::string& lasts) {
    return run_on_event_queue(*scenario_of(
        "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{name: gpus, preset: h100-sxm, count: 8}]}\n"
        "serving: {tensor_parallel: 4, cold_start: {boot: 1 s, bandwidth: 10 GB/s}}\n"
        "cost: {currency: USD, devices: {gpus: {hourly: 4 /h}}}\nwindow: {rule: whole}\n"
        "faults: {schedule: [{at: 5 s, group: gpus, device: 4" +
        lasts +
        "}]}\nworkload: {requests: 200, arrivals: {kind: periodic, rate: 8 /s}, stream: {kind: lengths, prompt: {kind: "
        "fixed, value: 500}, output: {kind: fixed, value: 50}}}\n"));
  };
  const auto rent = [](double devices_s) { return devices_s * 4 / 3600; };
  const result::RunResult repaired = run_with(", lasts: 10 s"), lost = run_with("");
  REQUIRE(repaired.simulated_s > 20);
  CHECK(repaired.cost->total == approx(rent(8 * repaired.simulated_s)));
  CHECK(lost.cost->total == approx(rent(4 * lost.simulated_s + 4 * 5)));
}

// Gemma 3 27B in a pool of 500 blocks, of which one conversation takes nearly all with its windows: behind the prefix
// that it finds cached it must fit as well.
TEST_CASE("who fits a pool alone fits it behind a cached prefix of layers with windows") {
  for (const char* policy : {"vllm_v1", "vllm_v0", "sglang"}) {
    CAPTURE(policy);
    const auto run = run_on_event_queue(*scenario_of(
        std::string(
            "schema: scenario/1\nmodel: gemma-3-27b\nhardware: {devices: [{preset: h100-sxm, count: 1}]}\nserving: "
            "{kv_windows: pooled, kv_blocks: 500, max_model_len: 2400, batcher: {policy: ") +
        policy +
        "}}\nworkload: {requests: 4, arrivals: {kind: poisson, rate: 0.01 /s}, stream: {kind: chat, turns: {kind: "
        "fixed, value: 1}, system_prompt: 256, message: {kind: fixed, value: 16}, output: {kind: fixed, value: "
        "2032}}}\nhorizon: 2000 s\n"));
    CHECK(run.requests.completed == 4);
    CHECK((run.tokens.reused > 0) == (policy != std::string("vllm_v0")));
  }
}

TEST_CASE("a pool that is never asked is told of, and is not one that is") {
  const auto warned = [](const std::string& placement) {
    const auto result = run_on_event_queue(*scenario_of(R"(schema: scenario/1
model: llama-3.1-8b
hardware: {devices: [{name: a, preset: h100-sxm, count: 1}, {name: b, preset: h100-sxm, count: 1}]}
serving: {pools: [{name: x, devices: [a]}, {name: y, devices: [b]}])" +
                                                        placement + R"(}
workload: {requests: 40, arrivals: {kind: poisson, rate: 10 /s}, stream: {kind: lengths, prompt: {kind: fixed, value: 500}, output: {kind: fixed, value: 50}}}
)"));
    return std::ranges::any_of(result.warnings, [](const std::string& text) {
      return text.starts_with("pool 'y' was sent no call: 'x' takes the same ones");
    });
  };
  CHECK(warned(""));
  CHECK_FALSE(warned(", placement: least_loaded"));
}

TEST_CASE("a pool is never asked where one before it takes all that it takes, of lengths, of classes, and decoders") {
  const auto said = [](const std::string& x, const std::string& y) {
    const auto result = run_on_event_queue(*scenario_of(R"(schema: scenario/1
model: llama-3.1-8b
hardware: {devices: [{name: a, preset: h200}, {name: b, preset: h200}, {name: c, preset: h200}], fabric: {groups: {a: {node: hgx-h200}, b: {node: hgx-h200}, c: {node: hgx-h200}}}}
slo: {classes: {chat: {ttft: 1 s}, code: {ttft: 1 s}}}
serving: {pools: [{name: p, devices: [c], role: prefill}, {name: x, devices: [a], )" +
                                                        x + "}, {name: y, devices: [b], " + y + R"(}]}
workload:
  requests: 10
  arrivals: {kind: poisson, rate: 10 /s}
  mixture: [{weight: 1, slo_class: chat, stream: {kind: lengths, prompt: {kind: fixed, value: 500}, output: {kind: fixed, value: 50}}}]
)"));
    for (const std::string& text : result.warnings)
      if (text.starts_with("pool 'y' was sent no call: ")) return text.substr(27, text.find(" and is") - 27);
    return std::string();
  };
  const std::string decodes = "role: decode";
  CHECK(said(decodes, decodes) == "'x' takes the same ones");
  CHECK(said(decodes, decodes + ", accepts: {classes: [code]}") == "'x' takes all that it takes");
  CHECK(said(decodes + ", accepts: {classes: [chat, code]}", decodes + ", accepts: {classes: [code]}") ==
        "'x' takes all that it takes");
  CHECK(said(decodes + ", accepts: {classes: [chat]}", decodes + ", accepts: {classes: [code]}").empty());
  CHECK(said(decodes + ", accepts: {classes: [chat]}", decodes).empty());
  // Of prompts the prefill pool takes all, also those of one that would answer them.
  CHECK(said(decodes, "accepts: {longer_than: 1000}") == "'p' takes all that it takes");
}

TEST_CASE("a call at an empty pool waits for boot time and weights on top of what it takes anyway") {
  const std::string one_call =
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{name: gpus, preset: h100-sxm, count: 2}]}\n"
      "workload: {requests: 1, arrivals: {kind: periodic, rate: 0.001 /s}, stream: {kind: lengths, prompt: {kind: "
      "fixed, value: 1000}, output: {kind: fixed, value: 2}}}\nserving: {tensor_parallel: 2";
  const auto cold = scenario_of(one_call +
                                ", cold_start: {boot: 7 s, bandwidth: 10 GB/s}, controllers: [{policy: autoscale, min: "
                                "0, up_at: 8, down_at: 1, interval: 10 s}]}\n");
  const double warm = run_on_event_queue(*scenario_of(one_call + "}\n")).latency["ttft_s"]->mean;
  const Bytes weights = models::memory_need(cold->model, cold->pools[0].plan(), 1, 1).weights;
  CHECK(weights.si() == approx(8.03e9).epsilon(0.01));  // 16.06 GB over two devices
  CHECK(run_on_event_queue(*cold).latency["ttft_s"]->mean == approx(7 + weights.si() / 10e9 + warm).epsilon(1e-12));
}

TEST_CASE("entries that a node's link loses are computed again; a slow link takes their time") {
  const result::RunResult whole = handed_over("");
  CHECK(whole.tokens.computed == 1000);
  CHECK_FALSE(whole.fleet);

  const result::RunResult down =
      handed_over("faults: {schedule: [{at: 0 s, group: tokens, node: 0, uplink: 0 B/s}]}\n");
  CHECK(down.requests.completed == 1);
  CHECK(down.tokens.computed == 1000 + 1001);  // with the token that was answered
  CHECK(down.tokens.recomputed == 1001);

  const result::RunResult slow =
      handed_over("faults: {schedule: [{at: 0 s, group: prompts, node: 0, uplink: 1 Gbit/s}]}\n");
  const double bits = 1000 * 131072 * 8.0;  // 32 layers x 2 x 8 heads x 128 x 2 bytes a token
  CHECK(slow.tokens.computed == 1000);
  // One device of eight has 400 Gbit/s of the node's 3.2 Tbit/s.
  CHECK(slow.latency["e2e_s"]->mean - whole.latency["e2e_s"]->mean == approx(bits / 1e9 - bits / 400e9).epsilon(1e-6));

  const result::RunResult repaired =
      handed_over("faults: {schedule: [{at: 0 s, lasts: 1 ms, group: prompts, node: 0, uplink: 1 Gbit/s}]}\n");
  CHECK(repaired.latency["e2e_s"]->mean == whole.latency["e2e_s"]->mean);
}

// Two of four users are served, one waits, and the fourth is refused, at once, whenever he asks.
TEST_CASE("closed-loop users without think time who are refused at once end the run, and think time lets it go on") {
  const auto ended = [](const std::string& arrivals, const std::string& more) {
    return run_on_event_queue(
        *scenario_of("schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{name: gpus, "
                     "preset: h100-sxm, count: 1}]}\n" +
                     more + "workload: {duration: 10 s, arrivals: {kind: closed_loop, users: 4" + arrivals +
                     "}, stream: {kind: lengths, prompt: {kind: fixed, value: 500}, output: "
                     "{kind: fixed, value: 50}}}\n"));
  };
  const std::string queue = "serving: {admission: {max_outstanding: 2, max_waiting: 1}}\n";
  const result::RunResult still = ended("", queue);
  CHECK(still.verdict.state == metrics::Verdict::State::truncated);
  REQUIRE_FALSE(still.verdict.reasons.empty());
  CHECK(holds(still.verdict.reasons.front(), "time stood still"));
  CHECK(still.simulated_s < 1);
  const result::RunResult thinking = ended(", think: {kind: fixed, value: 100 ms}", queue);
  CHECK_FALSE(holds(thinking.verdict.reasons.empty() ? "" : thinking.verdict.reasons.front(), "time stood still"));
  CHECK(thinking.simulated_s > 10);
}

// Time passes between the calls of a user who thinks: that he cannot be served says nothing of it.
TEST_CASE("a user whose calls are too long is refused one after the other, and time goes on") {
  const auto run = run_on_event_queue(*scenario_of(R"(schema: scenario/1
model: llama-3.1-8b
hardware: {devices: [{name: gpus, preset: h100-sxm, count: 1}]}
serving: {max_model_len: 1000}
workload: {requests: 300, arrivals: {kind: closed_loop, users: 1, think: {kind: fixed, value: 1 s}}, stream: {kind: lengths, prompt: {kind: fixed, value: 2000}, output: {kind: fixed, value: 10}}}
)"));
  CHECK(run.simulated_s > 290);
}
