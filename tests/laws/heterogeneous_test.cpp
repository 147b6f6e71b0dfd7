// SPDX-License-Identifier: Apache-2.0
// Every kind of device in one scenario: edge chips, GPUs, a dataflow rack, hosts that search.
#include <doctest/doctest.h>

#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::test::kSlowdown;
using llmscape::testing::approx;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

constexpr const char* kExample = "examples/heterogeneous-cluster/scenario.yaml";

std::string text_of(const std::filesystem::path& file) {
  std::string error;
  return read_file(file, error).value();
}
std::string example() { return text_of(kExample); }

// The scenario with each line that holds a key replaced by a text of its own; an empty one leaves the line out.
std::string with(const std::map<std::string, std::string>& replacements) {
  std::string out, text = example();
  std::size_t replaced = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    bool dropped = false;
    for (const auto& [key, by] : replacements)
      if (line.find(key) != std::string::npos) {
        ++replaced;
        line = by;
        dropped = by.empty();
        break;
      }
    if (!dropped) out += line + '\n';
  }
  REQUIRE(replaced == replacements.size());
  return out;
}

result::RunResult some_calls(const std::string& yaml) {
  return run_on_event_queue(*scenario_of(yaml, {"workload.requests=2000"}));
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

TEST_CASE("100,000 calls on four kinds of hardware take under 20 s, and each kind has work") {
  const double before = cpu_seconds();
  const auto result = run_on_event_queue(*scenario_of(example()));
  CHECK(cpu_seconds() - before < 20 * kSlowdown);
  CHECK(result.requests.injected > 100'000);
  CHECK(result.requests.completed + result.requests.cancelled > 0.999 * static_cast<double>(result.requests.injected));
  REQUIRE(result.pools.size() == 3);
  for (const auto& pool : result.pools) {
    CAPTURE(pool.name);
    CHECK(pool.busy > 0.05);
  }
  REQUIRE(result.retrieval.size() == 1);
  CHECK(result.retrieval[0].utilisation > 0.05);

  double joules = 0, by_group = 0;
  for (const auto& [component, some] : result.energy->joules) joules += some;
  for (const auto& [group, parts] : result.energy->by_group)
    for (const auto& [component, some] : parts) by_group += some;
  CHECK(joules == approx(result.energy->total_joules).epsilon(1e-12));
  CHECK(by_group == approx(result.energy->total_joules).epsilon(1e-12));
  CHECK(result.energy->by_group.size() == 4);
}

TEST_CASE("taking any kind away changes what its users see") {
  const auto all = some_calls(example());
  // The others do its work: a GPU the edge chips', the rack the GPUs', the GPUs the rack's; nobody searches.
  const auto no_edge = some_calls(with({{"{name: edge, preset", "    - {name: edge, preset: h100-sxm}"}}));
  const auto no_gpu = some_calls(with({{"{name: prompts, preset", ""},
                                       {"prompts: {node", ""},
                                       {"{name: prompts, devices", ""},
                                       {"{name: tokens, devices", "    - {devices: [tokens], tensor_parallel: 16}"}}));
  const auto no_rack = some_calls(with({{"{name: tokens, preset", ""},
                                        {"tokens: {node", ""},
                                        {"{name: tokens, devices", ""},
                                        {"{name: prompts, devices", "    - {devices: [prompts]}"}}));
  const auto no_hosts = some_calls(with({{"{kind: rag", "      stream: {kind: rag}"},
                                         {"  retrieval:", ""},
                                         {"host: xeon", ""},
                                         {"index: {kind", ""},
                                         {"embedding: {", ""}}));
  for (const auto* without : {&no_edge, &no_gpu, &no_rack, &no_hosts}) {
    CHECK(without->requests.completed > 0.9 * static_cast<double>(all.requests.completed));
    CHECK(without->energy->total_joules != all.energy->total_joules);
    CHECK(without->latency["ttft_s"]->mean != all.latency["ttft_s"]->mean);
    CHECK(without->latency["e2e_s"]->mean != all.latency["e2e_s"]->mean);
  }
  CHECK(no_rack.latency["tpot_s"]->mean > all.latency["tpot_s"]->mean);
  CHECK(all.retrieval.size() == 1);
  CHECK(no_hosts.retrieval.empty());
}

TEST_CASE("SimGrid and the event queue agree on all that the examples do, with lookahead and without (INV-14)") {
  for (const std::string name : {"heterogeneous-cluster", "autoscaling-faults", "kv-tiers", "prefill-decode-pools"}) {
    CAPTURE(name);
    const auto scenario = scenario_of(text_of("examples/" + name + "/scenario.yaml"), {"workload.requests=1000"});
    const std::string queue = result::to_json(run_on_event_queue(*scenario));
    CHECK(queue == result::to_json(run_on_event_queue(*scenario, 0)));
    CHECK(queue == testing::json_on_simgrid(*scenario));
    CHECK(queue == testing::json_on_simgrid(*scenario, 0));
  }
}

TEST_CASE("the timeline has a track for every replica that ran, steps that do not overlap, and counters") {
  const auto folder = std::filesystem::temp_directory_path() / ("llmscape-heterogeneous-" + std::to_string(getpid()));
  const auto ran = test::run_program(
      {"run", kExample, "--set", "workload.requests=3000", "--quiet", "-o", folder.string(), "--timeline"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const auto timeline = nlohmann::json::parse(text_of(folder / "timeline.json"));
  std::filesystem::remove_all(folder);
  std::map<std::pair<int, int>, double> ends;  // by process and thread
  std::map<std::string, int> phases;
  for (const auto& event : timeline.is_array() ? timeline : timeline.at("traceEvents")) {
    const std::string phase = event.at("ph");
    ++phases[phase];
    if (phase != "X") continue;
    double& end = ends[{event.value("pid", 0), event.value("tid", 0)}];
    CHECK(event.at("ts").get<double>() >= end - 1e-3);
    end = event.at("ts").get<double>() + event.at("dur").get<double>();
  }
  CHECK(ends.size() > 20);  // replicas of all pools that had something to do
  CHECK(phases["C"] > 0);
  CHECK(phases["b"] == phases["e"]);
}
