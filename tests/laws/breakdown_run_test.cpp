// SPDX-License-Identifier: Apache-2.0
// Where the time and the joules of whole runs went (INV-6, INV-17).
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/support/approx.hpp"
#include "tests/support/round_device.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::round_device;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

result::RunResult example(const std::string& name, const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  const auto scenario = scenario::load_scenario("examples/" + name + "/scenario.yaml", overrides, std::nullopt,
                                                testing::source_catalogs(), diagnostics);
  REQUIRE_MESSAGE(scenario, diagnostics.text(false));
  return run_on_event_queue(*scenario);
}

std::map<std::string, double> by_name(const std::vector<std::pair<std::string, double>>& parts) {
  return {parts.begin(), parts.end()};
}

double sum_of(const std::vector<std::pair<std::string, double>>& parts) {
  double sum = 0;
  for (const auto& [name, value] : parts) sum += value;
  return sum;
}

}  // namespace

TEST_CASE("the parts of a request sum to its end to end, those of the first token to its TTFT, under load too") {
  for (const char* name : {"chat-h100", "prefill-decode-pools", "kv-tiers", "autoscaling-faults"}) {
    CAPTURE(name);
    const result::RunResult result = example(name, {"workload.requests=400"});
    REQUIRE(result.breakdown.requests);
    const result::TimeParts& parts = *result.breakdown.requests;
    CHECK(parts.whole_s == approx(result.latency["e2e_s"]->mean).epsilon(1e-12));
    CHECK(sum_of(parts.parts) == approx(result.latency["e2e_s"]->mean).epsilon(1e-9));
    const std::vector<std::pair<std::string, double>> first(
        parts.parts.begin(), parts.parts.begin() + static_cast<std::ptrdiff_t>(serving::kPhasesOfFirstToken));
    CHECK(sum_of(first) == approx(result.latency["ttft_s"]->mean).epsilon(1e-9));
  }
}

TEST_CASE("the time of steps by family and bound is the busy time of the replicas, and their joules are the ledger's") {
  const result::RunResult result = example("heterogeneous-cluster", {"workload.requests=400"});
  std::map<std::string, double> dynamic;
  for (const auto& [group, joules] : result.overall.energy.by_group)
    for (const auto& [component, value] : joules)
      if (component != "static" && component != "retrieval") dynamic[group] += value;
  REQUIRE(result.breakdown.steps.size() == 3);
  double provenance = 0, seconds = 0;
  for (const result::GroupSteps& group : result.breakdown.steps) {
    CAPTURE(group.group);
    CHECK(group.joules == approx(dynamic.at(group.group)).epsilon(1e-9));
    for (const auto& family : group.families) CHECK(sum_of(family.bound_by) == approx(family.seconds).epsilon(1e-12));
    seconds += group.seconds;
  }
  for (const auto& [family, share] : result.time_share) {
    double some = 0;
    for (const result::GroupSteps& group : result.breakdown.steps)
      for (const auto& cost : group.families)
        if (cost.name == family) some += cost.seconds;
    CHECK(some / seconds == approx(share).epsilon(1e-9));
    provenance += share;
  }
  CHECK(provenance == approx(1).epsilon(1e-9));
}

TEST_CASE("decoding waits for memory and a long prompt for arithmetic, and for nothing else without overheads") {
  const auto bounds = [](const result::RunResult& result) {
    std::map<std::string, double> seconds;
    for (const auto& family : result.breakdown.steps.at(0).families)
      for (const auto& [bound, some] : family.bound_by) seconds[bound] += some;
    return seconds;
  };
  auto decoding = bounds(run_on_event_queue(*scenario_of(round_device(16, 400))));
  CHECK(decoding["memory"] > 0.99 * (decoding["memory"] + decoding["arithmetic"]));
  CHECK(decoding["overhead"] == 0);
  auto prompt = bounds(run_on_event_queue(*scenario_of(round_device(4000, 1))));
  CHECK(prompt["arithmetic"] > 0.95 * (prompt["memory"] + prompt["arithmetic"]));
  // A fixed time for each operator that is three times as long as its work at least: overhead.
  auto slow = bounds(run_on_event_queue(*scenario_of(round_device(16, 400), {"hardware.devices[0].per_operator=1 s"})));
  CHECK(slow["overhead"] > 0.99 * (slow["memory"] + slow["arithmetic"] + slow["overhead"]));
}

TEST_CASE("agents wait for their tools, and what tasks waited for sums to their time") {
  const result::RunResult result = example("agents-h200", {});
  REQUIRE(result.breakdown.tasks);
  const auto parts = by_name(result.breakdown.tasks->parts);
  CHECK(sum_of(result.breakdown.tasks->parts) == approx(result.breakdown.tasks->whole_s).epsilon(1e-9));
  CHECK(parts.at("tools") > 0);
  CHECK(parts.at("model_calls") > 0);
}
