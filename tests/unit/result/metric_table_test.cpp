// SPDX-License-Identifier: Apache-2.0
#include "sim/result/metric_table.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "sim/result/result_json.hpp"
#include "sim/serving/phases.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::metrics {
namespace {

// A result that has every part, no two of its numbers alike.
result::RunResult everything() {
  double next = 0.125;
  const auto number = [&next] { return next += 1; };
  std::int64_t counted = 1000;
  const auto count = [&counted] { return ++counted; };
  result::RunResult r;
  for (const Metric& metric : latencies())
    r.latency.set(metric.key, result::Percentiles{count(), number(), number(), number(), number(), number(), number(),
                                                  number(), true});
  r.tokens = {count(), count(), count(), count(), count(), count(), count(), count()};
  r.throughput = {number(), number(), number(), number(), number(), number(), number(), number(), number(), number()};
  r.kv = {count(), number(), count(), number()};
  for (Bytes& bytes : r.memory.emplace().by_kind.bytes) bytes = Bytes(number());
  r.kv_tiers.emplace_back();
  r.speculation = result::SpeculationResult{count(), number(), number()};
  r.adapters = result::LoadsResult{count(), number()};
  r.turns = result::LoadsResult{count(), number()};
  result::EnergyResult& e = r.energy.emplace();
  for (double* of : {&e.total_joules, &e.mean_w, &e.peak_w, &e.peak_window_s, &e.idle_share, &e.assumed_share})
    *of = number();
  e.joules_per_output_token = number();
  e.joules_per_answered_token = number();
  e.output_tokens_per_joule = number();
  e.joules_per_request = number();
  r.cost = result::CostResult{"EUR", {}, number(), number(), number(), number(), number(), {}, {}, number(), number()};
  r.area = result::AreaResult{number(), number()};
  result::TimeParts& phases_of = r.breakdown.requests.emplace();
  for (const std::string_view name : serving::kRequestPhaseNames) phases_of.parts.emplace_back(name, number());
  for (const Metric& metric : numbers())
    if (!metric.value) r.numbers.set(metric.key, metric.unit.empty() ? static_cast<double>(count()) : number());
  r.steps = count();
  r.sequence_steps = count();
  r.window_s = number();
  r.simulated_s = number();
  return r;
}

const Metric& metric(std::string_view key) {
  for (const Metric& m : metrics())
    if (m.key == key) return m;
  throw std::logic_error("no metric " + std::string(key));
}

}  // namespace

TEST_CASE("every column of a result is written, and read back from its place, as it was") {
  const result::RunResult result = everything();
  const auto json = nlohmann::json::parse(result::to_json(result));
  std::set<double> values;
  for (const Column& column : columns()) {
    CAPTURE(column.name);
    const auto value = column.value(result);
    REQUIRE(value);
    CHECK(result::number_in(json, column) == value);
    CHECK(find_column(column.name) == &column);
    CHECK(find_column(short_name(column)) == &column);
    values.insert(*value);
  }
  CHECK(values.size() == columns().size());  // no two of them speak of the same number
}

TEST_CASE("every phase of a request is a metric, so that their columns sum to its end to end") {
  const result::RunResult result = everything();
  REQUIRE(phases().size() == serving::kRequestPhases);
  for (std::size_t i = 0; i < serving::kRequestPhases; ++i) {
    const Metric& phase = phases()[i];
    CHECK(phase.key == std::string(serving::kRequestPhaseNames[i]) + "_s");
    CHECK(phase.value(result) == result.breakdown.requests->parts[i].second);
  }
}

TEST_CASE("a result without a part has nothing in its columns") {
  const result::RunResult empty;
  const auto json = nlohmann::json::parse(result::to_json(empty));
  for (const Column& column : columns()) {
    CAPTURE(column.name);
    CHECK(result::number_in(json, column) == column.value(empty));
    const std::string_view section = column.metric->section;
    if (section == "latency" || section == "throughput" || section == "energy" || section.starts_with("breakdown"))
      CHECK_FALSE(column.value(empty));
  }
}

TEST_CASE("what is told by a name that no row has is refused, not lost") {
  result::RunResult result;
  result.numbers.set("made_up_s", 1);
  CHECK_THROWS_WITH_AS(result::to_json(result),
                       "the result tells 'made_up_s', but no row of the table of metrics has it written",
                       std::logic_error);
  result::RunResult other;
  other.latency.set("made_up_s", result::Percentiles{});
  CHECK_THROWS_AS(result::to_json(other), std::logic_error);
}

TEST_CASE("an observer keeps bubbles only where streams share the stages of a pipeline") {
  const auto kept = [](const Serving& serving, std::string_view key) {
    return std::ranges::count(latencies_of(serving), key, [](const Metric* m) { return m->key; });
  };
  CHECK(kept({.stages_shared = true}, "bubble_s") == 1);
  CHECK(kept({}, "bubble_s") == 0);
  CHECK(kept({}, "ttft_s") == 1);
  CHECK(kept({}, "itl_s") == 0);  // of tokens, not of requests
}

TEST_CASE("the times of a request") {
  serving::Request r;
  r.arrival = Seconds(1);
  r.context_complete = Seconds(2.5);
  r.first_token = r.seen.first = Seconds(3);
  r.last_token = Seconds(7);
  r.output_tokens = 5;
  r.bubble = Seconds(0.25);
  CHECK(metric("ttft_s").of_request(r) == Seconds(2));
  CHECK(metric("tpot_s").of_request(r) == Seconds(1));  // 4 s for four more
  CHECK(metric("e2e_s").of_request(r) == Seconds(6));
  CHECK(metric("bubble_s").of_request(r) == Seconds(0.25));
  CHECK_FALSE(metric("context_ttft_s").of_request(r));
  r.versioned = true;
  CHECK(metric("context_ttft_s").of_request(r) == Seconds(0.5));
  r.output_tokens = 1;
  CHECK_FALSE(metric("tpot_s").of_request(r));
}

// What is divided by answered tokens has the same joules and money as what is divided by all: the same errors.
TEST_CASE("figures by answered token have the intervals of those by emitted ones") {
  for (const auto& [answered, emitted] : {std::pair("joules_per_answered_token", "joules_per_output_token"),
                                          {"cost_per_million_answered_tokens", "cost_per_million_output_tokens"},
                                          {"co2_g_per_million_answered_tokens", "co2_g_per_million_output_tokens"}}) {
    const metrics::Metric &one = *metrics::find_column(answered)->metric,
                          &other = *metrics::find_column(emitted)->metric;
    CHECK(one.interval == other.interval);
    CHECK(one.server == other.server);
  }
}

}  // namespace llmscape::metrics
