// SPDX-License-Identifier: Apache-2.0
// What a run answers when one figure of its hardware is changed: every figure counts, or the run says that none of its
// prices reads it.
#include <doctest/doctest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/catalog.hpp"
#include "hardware/cim/chip.hpp"
#include "sim/explore/parameters.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/scenario/serving_pools.hpp"
#include "sim/world/laid_figures.hpp"
#include "sim/world/unread_overrides.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

std::string eight_gpus(const std::string& devices = "[{preset: h100-sxm, count: 8}]") {
  return "schema: scenario/1\n"
         "model: llama-3.1-8b\n"
         "hardware: {devices: " +
         devices +
         "}\n"
         "serving: {tensor_parallel: 8, batcher: vllm_v1}\n"
         "workload: {requests: 16, arrivals: {kind: closed_loop, users: 4}, stream: {kind: lengths, prompt: {kind: "
         "fixed, value: 1000}, output: {kind: fixed, value: 20}}}\n";
}

double ttft(const std::vector<std::string>& overrides) {
  return run_on_event_queue(*scenario_of(eight_gpus(), overrides)).latency["ttft_s"]->mean;
}

const std::string kDevice = "hardware.devices[0].";

std::vector<std::string> unread(const std::vector<std::string>& overrides, const std::string& yaml = eight_gpus()) {
  std::vector<std::string> all = run_on_event_queue(*scenario_of(yaml, overrides)).warnings;
  std::erase_if(all, [](const std::string& one) { return one.find(" is set, but no price") == one.npos; });
  return all;
}

}  // namespace

TEST_CASE("what do links of a ninth of the bandwidth do to TTFT? on eight ranks it grows") {
  CHECK(ttft({kDevice + "links.bandwidth=50 GB/s"}) > 1.5 * ttft({}));
  CHECK(ttft({kDevice + "links={bandwidth: 50 GB/s, latency: 2.5 us}"}) == ttft({kDevice + "links.bandwidth=50 GB/s"}));
}

TEST_CASE("a figure laid over a scenario that was saved whole does what it does over the preset") {
  const auto base = scenario_of(eight_gpus());
  Diagnostics diagnostics;
  const auto later = scenario::read_scenario(base->resolved, ".", {kDevice + "links.bandwidth.value=50 GB/s"},
                                             std::nullopt, llmscape::testing::source_catalogs(), diagnostics);
  REQUIRE_MESSAGE(later, diagnostics.text(false));
  CHECK(run_on_event_queue(*later).latency["ttft_s"]->mean == ttft({kDevice + "links.bandwidth=50 GB/s"}));
}

TEST_CASE("a rate of arrivals that 'rate' scales away cannot be set; arrivals of another shape can") {
  const std::string base =
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: h100-sxm}]}\n"
      "workload: {preset: chat-1k, rate: 2 /s, requests: 20}\n";
  const auto said = [&](const std::string& assignment) {
    Diagnostics diagnostics;
    scenario::read_scenario(read_yaml(std::make_shared<const SourceText>(SourceText{"base", base}), diagnostics), ".",
                            {assignment}, std::nullopt, llmscape::testing::source_catalogs(), diagnostics);
    return diagnostics.text(false);
  };
  const std::string refused = said("workload.arrivals.rate=4 /s");
  CHECK_MESSAGE(refused.find("has no effect beside 'workload.rate'") != refused.npos, refused);
  CHECK(said("workload.rate=4 /s").empty());
  CHECK(said("workload.arrivals={kind: gamma, rate: 4 /s, cv: 2}").empty());
}

TEST_CASE("does the run say what it does not read? links under one rank, a peak that no operator runs at") {
  const std::string one = "serving.tensor_parallel=1";
  const auto links = unread({one, kDevice + "links.bandwidth=50 GB/s"});
  REQUIRE(links.size() == 1);
  CHECK(links[0] == "hardware.devices[0].links.bandwidth is set, but no price of this run reads it");
  CHECK(unread({one, kDevice + "peak_fp8=2000 Tflop/s"}).size() == 1);
  const auto warnings =
      run_on_event_queue(*scenario_of(eight_gpus(), {one, kDevice + "links.bandwidth=50 GB/s"})).warnings;
  CHECK(std::ranges::find(warnings, links[0]) != warnings.end());
}

TEST_CASE("what is read is not warned about, on the command line or in the file") {
  CHECK(unread({}).empty());
  CHECK(unread({kDevice + "links.bandwidth=225 GB/s", kDevice + "hbm_bandwidth=4 TB/s",
                kDevice + "peak_bf16=1200 Tflop/s", kDevice + "multiprocessors=140", kDevice + "l2=60 MB",
                kDevice + "hbm_capacity=96 GB", kDevice + "host.per_step=5 ms", kDevice + "energy.memory=5 pJ/bit"})
            .empty());
  CHECK(unread({}, eight_gpus("[{preset: h100-sxm, count: 8, hbm_bandwidth: 4 TB/s}]")).empty());
}

TEST_CASE("a size that decides what fits is read, though twice or half of it would fit as well") {
  // Llama-3.2-1B lies in 8 GB of SRAM on each socket, and in 4 and 16 GB; in the preset's 520 MB it does not.
  const std::string yaml =
      "schema: scenario/1\nmodel: llama-3.2-1b\nhardware: {devices: [{preset: sn40l, count: 1}]}\n"
      "workload: {requests: 4, arrivals: {kind: closed_loop, users: 1}, stream: {kind: lengths, prompt: {kind: fixed, "
      "value: 100}, output: {kind: fixed, value: 8}}}\n";
  const auto tpot = [&](const std::vector<std::string>& overrides) {
    return run_on_event_queue(*scenario_of(yaml, overrides)).latency["tpot_s"]->mean;
  };
  const std::vector<std::string> large = {kDevice + "memory.sram=8 GB"};
  CHECK(tpot(large) < tpot({}));
  CHECK(unread(large, yaml).empty());
}

TEST_CASE(
    "does each figure of an H100's data sheet count? halved, it gives another result or a warning that names it") {
  const std::string yaml = eight_gpus();
  const auto told = [](const scenario::Scenario& scenario) {
    auto json = nlohmann::json::parse(result::to_json(run_on_event_queue(scenario)));
    const auto warnings = json["warnings"];
    for (const char* key : {"warnings", "scenario", "id"}) json.erase(key);
    return std::pair(json.dump(), warnings.dump());
  };
  const auto base = scenario_of(yaml);
  const std::string unchanged = told(*base).first;
  int halved = 0, another = 0, named = 0;
  for (const explore::Parameter& figure : explore::hardware_parameters(*base)) {
    Diagnostics refused;
    const auto scenario = scenario::read_scenario(base->resolved, ".", {scaled(figure, 0.5)}, std::nullopt,
                                                  llmscape::testing::source_catalogs(), refused);
    if (!scenario || refused.has_errors()) continue;  // half a GPU
    auto [result, warnings] = told(*scenario);
    std::string path = figure.override.substr(0, figure.override.rfind(".value"));
    const bool warned = llmscape::testing::holds(warnings, path + " is set, but no price of this run ");
    for (const double less : {0.25, 1 / 1024.}) {
      if (result != unchanged || warned) break;  // else it does not bind yet, and is read nevertheless: less of it does
      const auto smaller = scenario::read_scenario(base->resolved, ".", {scaled(figure, less)}, std::nullopt,
                                                   llmscape::testing::source_catalogs(), refused);
      if (smaller) result = told(*smaller).first;
    }
    CHECK_MESSAGE((result != unchanged) != warned, figure.override << (warned ? " both" : " neither"));
    ++halved;
    another += result != unchanged;
    named += warned;
  }
  CHECK(halved > 100);
  CHECK(another > 40);
  CHECK(named > 60);
}

TEST_CASE("counts and shares are asked for with values that they may have") {
  Diagnostics diagnostics;
  auto device = *catalog_entry("hardware/catalog", "device", "edgecim", {}, diagnostics);
  const auto otherwise = [&device](const char* key, const char* text) {
    YamlNode laid = device;
    YamlNode& value = *laid.find(key)->find("value");
    value.text = text;
    value.origin = "--set";
    const auto figures = world::laid_over(laid);
    REQUIRE(figures.size() == 1);
    return figures[0].otherwise;
  };
  const auto tiles = [&](const char* text) {
    std::vector<std::int64_t> all;
    for (const auto& other : otherwise("tiles_per_cluster", text))
      all.push_back(*dynamic_cast<const hardware::CimDevice&>(*other).tiles_per_cluster);
    return all;
  };
  CHECK(tiles("457") == std::vector<std::int64_t>{914, 228, 1});
  CHECK(tiles("2") == std::vector<std::int64_t>{4, 1});
  const auto shares = otherwise("pinned_share", "0.53");
  REQUIRE(shares.size() == 2);
  CHECK(*dynamic_cast<const hardware::CimDevice&>(*shares[0]).pinned_share == 1);
  CHECK(*dynamic_cast<const hardware::CimDevice&>(*shares[1]).pinned_share == approx(0.265));
}

TEST_CASE("does a cap count? where a step draws that much") {
  CHECK(unread({kDevice + "power_limit=600 W"}) ==
        std::vector<std::string>{"hardware.devices[0].power_limit is set, but no price of this run reads it: no step "
                                 "draws that much"});
  CHECK(unread({kDevice + "tdp=650 W"}).size() == 1);
  CHECK(unread({kDevice + "tdp=130 W"}).empty());
  CHECK(unread({kDevice + "power_limit=130 W"}).empty());
  CHECK(unread({kDevice + "load_bandwidth=32 GB/s"}).size() == 1);
  CHECK(unread({kDevice + "die_area=400 mm2"}).empty());
  CHECK(unread({kDevice + "clock=0.5"}).empty());
  // 126 us of the host beside steps of milliseconds: the devices hide them, unless scheduling waits for them.
  const auto hidden = unread({kDevice + "host.per_step=63 us"});
  REQUIRE(hidden.size() == 1);
  CHECK(hidden[0] ==
        "hardware.devices[0].host.per_step is set, but no price of this run depends on it: the devices' time hides it");
  CHECK(
      unread({kDevice + "host.per_step=63 us", "serving.batcher={policy: vllm_v1, async_scheduling: false}"}).empty());
}

TEST_CASE("a figure that nothing reads costs a fleet as much as a replica: 20,000 steps of all, and larger ones") {
  const auto scenario = scenario_of(eight_gpus(), {"serving.tensor_parallel=1", kDevice + "links.bandwidth=50 GB/s"});
  world::OverrideWitness witness(*scenario);
  const scenario::PoolConfig& pool = scenario->pools[0];
  const hardware::Device& device = *scenario->config.hardware.devices[0];
  std::vector<std::unique_ptr<engine::EngineModel>> replicas;
  for (int i = 0; i < 8; ++i)
    replicas.push_back(witness.watched(
        engine::bind(device, scenario->model_on(pool, device), pool.plan(), scenario::settings_of(pool)), pool, 0));
  models::Batch batch;
  batch.decodes = 4;
  const std::vector<models::Attended> attended = {{4000, 1000}};
  batch.attended = attended;
  for (int step = 0; step < 3000; ++step)
    for (const auto& replica : replicas) static_cast<void>(replica->step(batch));
  CHECK(witness.compared() == 20000);  // of 24,000
  batch.decodes = 5;
  for (const auto& replica : replicas) static_cast<void>(replica->step(batch));
  CHECK(witness.compared() == 20001);
  CHECK(witness.warnings() ==
        std::vector<std::string>{"hardware.devices[0].links.bandwidth is set, but no price of this run reads it"});
}

TEST_CASE("what do the joules of a result include? the boundary of its devices, and a share that is assumed") {
  const auto gpu = run_on_event_queue(*scenario_of(eight_gpus()));
  CHECK(gpu.energy->boundary == "board");
  // An H100 was measured, but for its links: five joules in a thousand of eight that share a model.
  const auto of = [](const result::RunResult& run, const std::string& component) {
    for (const auto& [name, joules] : run.energy->joules)
      if (name == component) return joules;
    return 0.0;
  };
  const double links = of(gpu, "interconnect");
  CHECK(links > 0);
  CHECK(gpu.energy->assumed_share == approx(links / gpu.energy->total_joules));
  const std::string guessed_idle = kDevice + "idle_power={value: 121 W, tag: assumed, source: guess}";
  const auto all = run_on_event_queue(*scenario_of(eight_gpus(), {kDevice + "energy.tag=assumed", guessed_idle}));
  CHECK(all.energy->assumed_share == approx(1));
  CHECK(all.energy->total_joules == gpu.energy->total_joules);
  // Which figures these are: an idle power alone is that much of the joules, 8 x 121 W over mean power.
  const auto idle = run_on_event_queue(*scenario_of(eight_gpus(), {guessed_idle}));
  REQUIRE(idle.energy->assumed.size() == 2);
  CHECK(idle.energy->assumed[1].first == "idle");
  CHECK(idle.energy->assumed_share == approx(8 * 121 / idle.energy->mean_w + links / gpu.energy->total_joules));
}

TEST_CASE("what do joules of unlike groups include? each group's boundary is named") {
  const std::string pair =
      "schema: scenario/1\n"
      "model: llama-3.2-1b\n"
      "hardware: {devices: [{preset: h100-sxm, name: big}, {preset: h100-sxm, name: own, energy_boundary: chip}]}\n"
      "serving: {batcher: vllm_v1}\n"
      "workload: {requests: 16, arrivals: {kind: closed_loop, users: 4}, stream: {kind: lengths, prompt: {kind: "
      "fixed, value: 1000}, output: {kind: fixed, value: 20}}}\n";
  const auto result = run_on_event_queue(*scenario_of(pair, {}));
  CHECK(result.energy->boundary == "chip+board");
  using Named = std::pair<std::string, std::string>;
  CHECK(result.energy->boundary_by_group == std::vector<Named>{{"big", "board"}, {"own", "chip"}});
}
