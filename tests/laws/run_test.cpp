// SPDX-License-Identifier: Apache-2.0
// Whole scenarios against roofs, symmetries and each other.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "models/memory.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::json_on_simgrid;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

std::string chat(const std::string& devices, const std::string& extra = "") {
  return "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: " + devices +
         "}\nworkload: {preset: chat-1k, requests: 400}\n" + extra;
}

std::string alone(int prompt, int output, const std::string& device) {
  return "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [" + device +
         "]}\nworkload: {arrivals: {kind: periodic, rate: 0.001 /s}, requests: 1, stream: {kind: lengths, prompt: "
         "{kind: fixed, "
         "value: " +
         std::to_string(prompt) + "}, output: {kind: fixed, value: " + std::to_string(output) + "}}}\n";
}

double tpot_alone(int prompt, const std::string& device) {
  return run_on_event_queue(*scenario_of(alone(prompt, 2, device))).latency["tpot_s"]->mean;
}

}  // namespace

TEST_CASE("the same seed gives the same bytes, another seed others (INV-9)") {
  const auto scenario = scenario_of(chat("[{name: gpu, preset: h100-sxm}]"));
  const std::string once = json_on_simgrid(*scenario);
  CHECK(once.size() > 1000);
  CHECK(once == json_on_simgrid(*scenario));
  CHECK(once != json_on_simgrid(*scenario_of(chat("[{name: gpu, preset: h100-sxm}]", "seed: 2\n"))));
}

TEST_CASE("SimGrid and the bare event queue, with lookahead and without, give the same bytes (INV-14)") {
  for (const char* devices : {"[{name: gpu, preset: h100-sxm}]", "[{name: gpu, preset: h100-sxm, count: 4}]"}) {
    const auto scenario = scenario_of(chat(devices), {"workload.arrivals.rate=40 /s"});
    const std::string simgrid = json_on_simgrid(*scenario);
    CHECK(simgrid == json_on_simgrid(*scenario, 0));
    CHECK(simgrid == result::to_json(run_on_event_queue(*scenario)));
    CHECK(simgrid == result::to_json(run_on_event_queue(*scenario, 0)));
  }
}

TEST_CASE("a run that stops at its horizon has done the same with lookahead and without (INV-14)") {
  for (const char* horizon : {"horizon: 3 s", "horizon: 3.7 s", "horizon: 11.3 s"}) {
    const auto scenario = scenario_of(chat("[{name: gpu, preset: h100-sxm, count: 2}]", std::string(horizon) + "\n"));
    CHECK(result::to_json(run_on_event_queue(*scenario)) == result::to_json(run_on_event_queue(*scenario, 0)));
  }
}

TEST_CASE("equal devices may be written in any order and under any name (INV-13)") {
  const auto metrics = [](const std::string& devices, bool named = false) {
    result::RunResult result = run_on_event_queue(*scenario_of(chat(devices)));
    if (!named) result.hardware.clear();
    if (!named) result.kernels.clear();
    if (!named && result.memory) result.memory->group.clear();
    result.overall.energy.by_group.clear();
    result.overall.utilisation.clear();
    result.energy->by_group.clear();  // which of two equal groups did what follows their order
    result.utilisation.clear();
    result.precision.clear();  // by group
    result.breakdown.steps.clear();
    return result::to_json(result);
  };
  CHECK(metrics("[{name: a, preset: h100-sxm, count: 2}, {name: b, preset: h100-sxm, count: 2}]", true) ==
        metrics("[{name: b, preset: h100-sxm, count: 2}, {name: a, preset: h100-sxm, count: 2}]", true));
  CHECK(metrics("[{name: a, preset: h100-sxm, count: 4}]") ==
        metrics("[{name: y, preset: h100-sxm, count: 2}, {name: x, preset: h100-sxm, count: 2}]"));
}

TEST_CASE("alone, a token takes bytes / W to 1.3 bytes / (eta_m W), and each of context KV bytes at eta_a W to W") {
  const auto scenario = scenario_of(alone(1024, 2, "{name: gpu, preset: h100-sxm}"));
  const double bandwidth = 3.35e12;
  const double weights = models::streamed_weights(scenario->model).si();
  const double kv = models::kv_bytes_per_token(scenario->model);
  const double tpot = tpot_alone(1024, "{name: gpu, preset: h100-sxm}");
  const double gemm_efficiency = 0.86;  // cost-model 3.2, H100, vLLM
  CHECK(tpot > (weights + 1025 * kv) / bandwidth);
  CHECK(tpot < 1.3 * (weights + 1025 * kv) / (gemm_efficiency * bandwidth));
  const double attention_efficiency = 0.8714;  // of the catalogue's closed form; its corrections are beside it
  const double growth =
      (tpot_alone(120'000, "{name: gpu, preset: h100-sxm}") - tpot_alone(60'000, "{name: gpu, preset: h100-sxm}")) /
      60'000;
  CHECK(growth > kv / bandwidth);
  CHECK(growth < kv / (attention_efficiency * bandwidth));
}

TEST_CASE("doubling the memory bandwidth never slows a request that is alone (INV-12)") {
  for (const int prompt : {1, 100, 5000, 50'000}) {
    CAPTURE(prompt);
    CHECK(tpot_alone(prompt, "{name: gpu, preset: h100-sxm, hbm_bandwidth: 6.7 TB/s}") <=
          tpot_alone(prompt, "{name: gpu, preset: h100-sxm}"));
  }
}

TEST_CASE("a token passes all stages of a pipeline: alone, two stages take as long as one device with all layers") {
  const std::string one = alone(1024, 2, "{preset: h100-sxm}");
  const std::string two = alone(1024, 2, "{preset: h100-sxm, count: 2}") + "serving: {pipeline_parallel: 2}\n";
  const result::RunResult result = run_on_event_queue(*scenario_of(two));
  // More by the transfer between the stages, and by the parts that each stage has (embedding and head are counted in
  // both).
  const double ratio = result.latency["tpot_s"]->mean / run_on_event_queue(*scenario_of(one)).latency["tpot_s"]->mean;
  CHECK(ratio > 1.0);
  CHECK(ratio < 1.1);
  REQUIRE(result.warnings.size() >= 1);
  CHECK(result.warnings[0].find("pipeline") != std::string::npos);
}

TEST_CASE("what a run resolved runs again to the same bytes (INV-11)") {
  const auto first =
      scenario_of(chat("[{name: gpu, preset: h100-sxm, hbm_bandwidth: 4 TB/s}]"), {"serving.batcher.max_num_seqs=32"});
  const auto again = scenario_of(write_yaml(first->resolved));
  REQUIRE(again);
  CHECK(result::to_json(run_on_event_queue(*first)) == result::to_json(run_on_event_queue(*again)));
  CHECK(write_yaml(first->resolved) == write_yaml(again->resolved));
}

TEST_CASE("a run that stops at its horizon says so and accounts for what is open (INV-1, INV-5)") {
  const result::RunResult result =
      run_on_event_queue(*scenario_of(chat("[{name: gpu, preset: h100-sxm}]", "horizon: 20 s\n")));
  CHECK(result.verdict.state == metrics::Verdict::State::truncated);
  CHECK(result.requests.running > 0);
  CHECK(result.requests.accounted() == result.requests.injected);
  CHECK(result.simulated_s == 20);
}

TEST_CASE("a load above what the hardware serves is called saturated, a light one is not") {
  CHECK(run_on_event_queue(*scenario_of(chat("[{name: gpu, preset: h100-sxm}]"),
                                        {"workload.arrivals.rate=200 /s", "workload.requests=4000"}))
            .verdict.state == metrics::Verdict::State::saturated);
  CHECK(run_on_event_queue(*scenario_of(chat("[{name: gpu, preset: h100-sxm}]"),
                                        {"workload.arrivals.rate=5 /s", "workload.requests=4000"}))
            .verdict.state == metrics::Verdict::State::valid);
}

TEST_CASE("energy: components and groups add up to the total, between idle power and the limits of the chips (INV-6)") {
  const auto scenario = scenario_of(chat("[{name: a, preset: h100-sxm, count: 2}, {name: b, preset: a100-80}]"));
  const result::RunResult result = run_on_event_queue(*scenario);
  const result::EnergyResult& energy = result.overall.energy;
  double components = 0, groups = 0;
  for (const auto& [component, joules] : energy.joules) components += joules;
  for (const auto& [group, joules] : energy.by_group)
    for (const auto& [component, some] : joules) groups += some;
  CHECK(components == approx(energy.total_joules).epsilon(1e-12));
  CHECK(groups == approx(energy.total_joules).epsilon(1e-12));
  const auto& devices = scenario->config.hardware.devices;
  const double idle = 2 * devices[0]->idle_power().si() + devices[1]->idle_power().si();
  CHECK(energy.idle_share == approx(idle * result.simulated_s / energy.total_joules).epsilon(1e-12));
  CHECK(energy.mean_w > idle);
  CHECK(energy.peak_w >= energy.mean_w);
  CHECK(energy.peak_w < 2 * 700 + 400);  // of the data sheets
  CHECK(*energy.output_tokens_per_joule * *energy.joules_per_output_token == approx(1));
  CHECK(*energy.joules_per_request * static_cast<double>(result.requests.completed) == approx(energy.total_joules));
}

TEST_CASE("the same work in half the time costs the same joules of steps and half the static ones") {
  // One request after the other, each alone: closer arrivals change no step.
  const auto run = [](const std::string& rate) {
    return run_on_event_queue(*scenario_of(alone(100, 20, "{name: gpu, preset: h100-sxm}"),
                                           {"workload.requests=5", "workload.arrivals.rate=" + rate}));
  };
  const result::RunResult slow = run("0.5 /s"), fast = run("1 /s");
  const auto& slow_joules = slow.energy->joules;
  const auto& fast_joules = fast.energy->joules;
  REQUIRE(slow_joules.size() == fast_joules.size());
  for (std::size_t i = 0; i + 1 < slow_joules.size(); ++i)
    CHECK(slow_joules[i].second == approx(fast_joules[i].second).epsilon(1e-12));
  REQUIRE(slow_joules.back().first == "static");
  CHECK(slow_joules.back().second / fast_joules.back().second ==
        approx(slow.simulated_s / fast.simulated_s).epsilon(1e-12));
  CHECK(slow.simulated_s / fast.simulated_s == approx(2).epsilon(0.02));
}

TEST_CASE("searches by hosts delay a call by their closed form, and their joules are part of the total") {
  const std::string search =
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware:\n  devices: [{name: gpu, preset: h100-sxm}]\n"
      "  retrieval: {host: xeon-8480-2s, count: 2, index: {kind: ivf, vectors: 100_000_000, dimension: 768, lists: "
      "16384, probes: 32, subquantizers: 64}, embedding: {parameters: 110e6}}\n"
      "workload: {arrivals: {kind: periodic, rate: 1 /s}, requests: 20, stream: {kind: rag, search: hosts, question: "
      "{kind: fixed, value: 12}}}\n";
  const auto scenario = scenario_of(search);
  const result::RunResult result = run_on_event_queue(*scenario);
  REQUIRE(result.retrieval.size() == 1);
  const result::RetrievalResult& hosts = result.retrieval.front();
  CHECK(hosts.name == "2 x xeon-8480-2s");
  CHECK(hosts.queries == 20);
  CHECK(hosts.mean_wait_s == 0);
  const hardware::Retrieval& retrieval = *scenario->config.hardware.retrieval;
  const double busy = 20 * retrieval.query(12).time.si();
  CHECK(*hosts.utilisation == approx(busy / (2 * 112 * result.simulated_s)).epsilon(1e-9));
  CHECK(*hosts.joules == approx(busy * (700 - 250) / 112 + 2 * 250 * result.simulated_s).epsilon(1e-9));
  double sum = 0;
  for (const auto& [component, joules] : result.energy->joules) sum += joules;
  const auto row =
      std::ranges::find(result.energy->by_group, hosts.name, [](const auto& group) { return group.first; });
  REQUIRE(row != result.energy->by_group.end());
  std::map<std::string, double> of_hosts(row->second.begin(), row->second.end());
  CHECK(of_hosts.size() == 2);
  CHECK(of_hosts["static"] == approx(2 * 250 * result.simulated_s).epsilon(1e-9));
  CHECK(of_hosts["retrieval"] == approx(busy * (700 - 250) / 112).epsilon(1e-9));
  CHECK(sum == approx(result.energy->total_joules).epsilon(1e-12));
  CHECK(result::to_json(result) == json_on_simgrid(*scenario));
}

// Drafts that are looked up take nothing, so that the board is left with the work of the same passes.
TEST_CASE("joules of drafts on users' devices are theirs, with their tags, and nobody else's (INV-6)") {
  const auto run = [](const std::string& draft) {
    return run_on_event_queue(*scenario_of(R"(schema: scenario/1
model: llama-3.1-8b
hardware: {devices: [{name: g, preset: h100-sxm}]}
serving: {speculation: {tokens: 4, acceptance: 0.6)" +
                                           draft + R"(}}
workload: {arrivals: {kind: burst, programs: 32}, requests: 32, stream: {kind: lengths, prompt: {kind: fixed, value: 512}, output: {kind: fixed, value: 65}}}
window: {rule: whole}
cost: {currency: USD, electricity: 3600 /kWh, pue: 1.5, carbon: 3.6 kg/kWh}
)"));
  };
  const auto joules_of = [](const result::RunResult& of, std::string_view group, std::string_view component) {
    for (const auto& [name, joules] : of.energy->by_group)
      if (name == group)
        for (const auto& [spent_on, value] : joules)
          if (spent_on == component) return value;
    return 0.0;
  };
  const result::RunResult plain = run("");
  const result::RunResult drafted =
      run(", draft: {model: qwen3-0.6b, device: rtx-4090, link: {latency: 1 ms, uplink: 1 GB/s}, deadline: 10 s}");
  for (const char* component : {"active", "compute", "memory"})
    CHECK(joules_of(drafted, "g", component) == approx(joules_of(plain, "g", component)));
  const double drafts = joules_of(drafted, "drafts on rtx-4090", "drafts");
  CHECK(drafts > 1000);
  double board = 0;
  for (const char* component : {"active", "compute", "memory", "static"}) board += joules_of(drafted, "g", component);
  CHECK(board / drafted.simulated_s < 700);
  CHECK(drafted.energy->total_joules == approx(board + drafts));
  CHECK(*drafted.energy->joules_per_output_token == approx((board + drafts) / (32 * 65)));
  // The 4090's joules are assumed, the H100's measured.
  CHECK(plain.energy->assumed_share == 0);
  CHECK(drafted.energy->assumed_share == approx(drafts / (board + drafts)));
  CHECK(drafted.energy->assumed == std::vector{std::pair(std::string("drafts"), drafts / (board + drafts))});
  // 3,600 /kWh are 1e-3 /J, 3.6 kg/kWh are 1e-3 g/J: of the board, with what the site takes beside it.
  CHECK(*drafted.cost->total == approx(1e-3 * 1.5 * board));
  CHECK(*drafted.cost->co2_g == approx(1e-3 * 1.5 * board));
  // Chips and boards are told apart.
  const result::RunResult phones =
      run(", draft: {model: qwen3-0.6b, device: snapdragon-8-elite, link: {latency: 1 ms, uplink: 1 GB/s}, deadline: "
          "10 s}");
  CHECK(phones.energy->boundary == "chip+board");
  CHECK(phones.energy->boundary_by_group ==
        std::vector{std::pair(std::string("drafts on snapdragon-8-elite"), std::string("chip")),
                    std::pair(std::string("g"), std::string("board"))});
}

TEST_CASE("joules of hosts are assumed where the powers behind them are") {
  auto scenario = *scenario_of(
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware:\n  devices: [{name: gpu, preset: h100-sxm}]\n"
      "  retrieval: {host: xeon-8480-2s, index: {kind: ivf, vectors: 100_000_000, dimension: 768, lists: 16384, "
      "probes: "
      "32, subquantizers: 64}, embedding: {parameters: 110e6}}\n"
      "workload: {arrivals: {kind: periodic, rate: 1 /s}, requests: 20, stream: {kind: rag, search: hosts, question: "
      "{kind: fixed, value: 12}}}\n");
  hardware::RetrievalHost& host = scenario.config.hardware.retrieval->host;
  // Idle 250 W all the time, and (700 - 250) W / 112 of each core that is busy.
  const auto assumed = [&](Tag idle, Tag tdp) {
    host.idle.tag = idle;
    host.tdp.tag = tdp;
    const result::RunResult result = run_on_event_queue(scenario);
    for (const auto& [what, share] : result.energy->assumed)
      if (what == "retrieval") return share * result.energy->total_joules / *result.retrieval.front().joules;
    return 0.0;
  };
  const result::RunResult result = run_on_event_queue(scenario);
  const double searching = 20 * scenario.config.hardware.retrieval->query(12).time.si() * (700 - 250) / 112;
  const double share = searching / *result.retrieval.front().joules;
  REQUIRE(share > 0);
  CHECK(assumed(Tag::measured, Tag::measured) == 0);
  CHECK(assumed(Tag::measured, Tag::assumed) == approx(share).epsilon(1e-9));
  CHECK(assumed(Tag::assumed, Tag::measured) == approx(1).epsilon(1e-9));
}

TEST_CASE("the time that a stream gives its searches is that of the station, hosts or not") {
  const std::string station =
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{name: gpu, preset: h100-sxm}]}\n"
      "serving: {retrieval_servers: 1}\nworkload: {arrivals: {kind: burst, programs: 3}, stream: {kind: rag, "
      "retrieval: {kind: fixed, value: 2 s}}}\n";
  const result::RunResult result = run_on_event_queue(*scenario_of(station));
  REQUIRE(result.retrieval.size() == 1);
  CHECK(result.retrieval.front().name == "servers");
  CHECK(result.retrieval.front().mean_wait_s == approx(2));  // 0, 2 and 4 s
  CHECK(*result.retrieval.front().utilisation == approx(6 / result.simulated_s));
  CHECK_FALSE(result.retrieval.front().joules);
}

TEST_CASE("a draft by a small model on one pool is read by the large one on another") {
  const std::string draft_and_check =
      "schema: scenario/1\nmodel: llama-3.1-8b\nmodels: {small: llama-3.2-1b}\n"
      "hardware: {devices: [{name: edge, preset: l4}, {name: gpu, preset: h100-sxm}]}\n"
      "serving: {pools: [{devices: [edge], model: small}, {devices: [gpu]}]}\n"
      "workload: {arrivals: {kind: periodic, rate: 1 /s}, requests: 20, stream: {kind: workflow, input: {kind: fixed, "
      "value: 300}, stages: [{name: draft, model: small, output: {kind: fixed, value: 40}}, {name: check, after: "
      "[draft], instructions: 15, output: {kind: fixed, value: 8}}]}}\n";
  const result::RunResult result = run_on_event_queue(*scenario_of(draft_and_check));
  CHECK(result.requests.completed == 40);
  REQUIRE(result.pools.size() == 2);
  CHECK(result.pools[0].prefill_tokens == 20 * 300);
  CHECK(result.pools[1].prefill_tokens == 20 * (15 + 300 + 40));
}
