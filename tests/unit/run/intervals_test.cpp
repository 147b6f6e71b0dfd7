// SPDX-License-Identifier: Apache-2.0
// Prediction intervals: what the residuals of the fits make of a run.
#include "sim/run/intervals.hpp"

#include "sim/engine/time_factors.hpp"
#include "sim/scenario/replica_size.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>

using namespace llmscape;
using hardware::Regime;
using llmscape::testing::approx;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

const char* const kScenario =
    "schema: scenario/1\n"
    "model: llama-3.1-8b\n"
    "hardware: {devices: [{name: gpu, preset: h100-sxm}]}\n"
    "workload: {requests: 60, arrivals: {kind: poisson, rate: 2 /s}, stream: {kind: lengths, prompt: {kind: fixed, "
    "value: 500}, output: {kind: fixed, value: 50}}}\n";

// One family takes all the time, evenly.
struct PlainStepModel final : engine::EngineModel {
  engine::EngineCost step(const models::Batch&) override {
    engine::EngineCost cost;
    cost.device = Seconds(10);
    cost.by_family[0] = Seconds(8);
    cost.by_family[1] = Seconds(2);
    cost.by_family[hardware::kOperatorFamilies - 1] = cost.host = Seconds(3);
    cost.extrapolated = Seconds(5);
    cost.energy[static_cast<std::size_t>(hardware::EnergyComponent::active)] = Joules(1000);
    cost.energy[static_cast<std::size_t>(hardware::EnergyComponent::memory)] = Joules(500);
    cost.energy_by_family[0] = Joules(800 + 500);
    cost.energy_by_family[1] = Joules(200);
    return cost;
  }
};

// The factors of a group of devices in that run of the intervals.
engine::TimeFactors drawn(const scenario::Scenario& scenario, std::size_t run, std::size_t group) {
  const hardware::Device& device = *scenario.config.hardware.devices[group];
  const scenario::PoolConfig& pool = scenario.pools.front();
  return engine::factors_at(run::interval_ranks(scenario, run)[group], device, scenario.model_on(pool, device),
                            pool.plan(), scenario::settings_of(pool).device);
}

models::Batch decodes(std::int64_t count) {
  models::Batch batch;
  batch.decodes = count;
  return batch;
}

}  // namespace

TEST_CASE("regimes are those of a step's tokens") {
  CHECK(hardware::regime_of(1) == Regime::small);
  CHECK(hardware::regime_of(64) == Regime::small);
  CHECK(hardware::regime_of(65) == Regime::medium);
  CHECK(hardware::regime_of(1024) == Regime::medium);
  CHECK(hardware::regime_of(1025) == Regime::large);
}

TEST_CASE("a factor is read off the quantiles, with straight lines of the logarithm between them") {
  const std::vector<double> quantiles = {-0.2, 0.0, 0.4};
  CHECK(hardware::factor_at(quantiles, 0) == approx(std::exp(-0.2)));
  CHECK(hardware::factor_at(quantiles, 0.25) == approx(std::exp(-0.1)));
  CHECK(hardware::factor_at(quantiles, 0.75) == approx(std::exp(0.2)));
  CHECK(hardware::factor_at(quantiles, 1) == approx(std::exp(0.4)));
}

TEST_CASE("families are multiplied by the factors of the step's regime, and extrapolated time once more") {
  engine::TimeFactors factors;
  const auto medium = static_cast<std::size_t>(Regime::medium);
  factors.by_family[0][medium] = 1.5;
  factors.by_family[hardware::kOperatorFamilies - 1][medium] = 2;
  const auto model = with_factors(std::make_unique<PlainStepModel>(), factors);
  CHECK(model->step(decodes(64)).device.si() == approx(10));
  const auto cost = model->step(decodes(65));
  CHECK(cost.device.si() == approx(1.5 * 8 + 2));
  CHECK(cost.host.si() == approx(6));
  // 100 W while a kernel runs, for 14 s instead of 10; the joules of the work are the same.
  const auto joules = [&cost](hardware::EnergyComponent of) { return cost.energy[static_cast<std::size_t>(of)].si(); };
  CHECK(joules(hardware::EnergyComponent::active) == approx(100 * 14));
  CHECK(joules(hardware::EnergyComponent::memory) == approx(500));
  CHECK(cost.energy_by_family[0].si() == approx(800 + 400 + 500));
  CHECK(cost.energy_by_family[1].si() == approx(200));

  factors.extrapolated = 1.2;
  const auto beyond = with_factors(std::make_unique<PlainStepModel>(), factors)->step(decodes(65));
  CHECK(beyond.device.si() == approx(1.5 * 8 + 2 + 0.2 * 5));
  double sum = 0;
  for (const Seconds part : beyond.by_family) sum += part.si();
  CHECK(sum == approx((beyond.device + beyond.host).si()));
}

// 1,500 J in 10 s are 150 W. Half the time leaves 500 J of `active` and 500 J of work, 1,000 J in 5 s: of two devices
// with 80 W above idle each that lasts 1,000 / 160 = 6.25 s, all families alike. With 100 W each it is within the
// limit.
TEST_CASE("a draw that is faster lasts for its joules where it would draw more than the limit") {
  engine::TimeFactors factors;
  for (auto& regimes : factors.by_family) regimes.fill(0.5);
  factors.headroom = Watts(80);
  const auto cost = with_factors(std::make_unique<PlainStepModel>(), factors, 2)->step(decodes(65));
  CHECK(cost.device.si() == approx(6.25));
  CHECK(cost.by_family[0].si() == approx(5));
  CHECK(cost.by_family[1].si() == approx(1.25));
  CHECK(cost.host.si() == approx(1.5));
  factors.headroom = Watts(100);
  CHECK(with_factors(std::make_unique<PlainStepModel>(), factors, 2)->step(decodes(65)).device.si() == approx(5));
}

// The memory works at its peak for 6 of the 10 s: half the time is not enough for that.
TEST_CASE("no draw is faster than a part of the device works at its peak") {
  struct BusyStepModel final : engine::EngineModel {
    engine::EngineCost step(const models::Batch& batch) override {
      engine::EngineCost cost = PlainStepModel().step(batch);
      cost.busy[static_cast<std::size_t>(hardware::Resource::memory)] = Seconds(6);
      return cost;
    }
  };
  engine::TimeFactors factors;
  for (auto& regimes : factors.by_family) regimes.fill(0.5);
  const auto cost = with_factors(std::make_unique<BusyStepModel>(), factors)->step(decodes(65));
  CHECK(cost.device.si() == approx(6));
  CHECK(cost.by_family[0].si() == approx(0.8 * 6));
  CHECK(cost.by_family[1].si() == approx(0.2 * 6));
  CHECK(cost.energy[static_cast<std::size_t>(hardware::EnergyComponent::active)].si() == approx(100 * 6));
}

// By hand: qwen2.5-coder-7b has 7.616e9 parameters, 152,064 x 3,584 of them in an embedding that a token does not read:
// 7.07 GB in int8, which 300 GB/s bring in 23.57 ms. The fit was carried over and may be off by a factor of 1.7.
TEST_CASE("a token of an L4 cannot come before its weights, however little is known of its kernels") {
  const auto scenario = scenario_of(
      "schema: scenario/1\n"
      "model: {preset: qwen2.5-coder-7b, weights: int8}\n"
      "hardware: {devices: [{preset: l4}]}\n"
      "workload: {requests: 20, arrivals: {kind: closed_loop, users: 1}, stream: {kind: lengths, prompt: {kind: fixed, "
      "value: 100}, output: {kind: fixed, value: 20}}}\n");
  REQUIRE(scenario);
  const auto intervals = run::predict_intervals(*scenario, 2, [] {});
  const auto tpot = std::ranges::find(intervals.metrics, "tpot_s.mean", &result::Interval::metric);
  REQUIRE(tpot != intervals.metrics.end());
  CHECK(tpot->low > 7.07e9 / 300e9);
  CHECK(tpot->low < 1.05 * 7.07e9 / 300e9);
}

// 1,500 J in 10 s. A fifth more is 1,800 J; of a device with 160 W above idle no more than 1,600 J.
TEST_CASE("joules have a factor of their own, within the limit") {
  engine::TimeFactors factors;
  factors.joules = 1.2;
  const auto joules = [&] {
    const auto cost = with_factors(std::make_unique<PlainStepModel>(), factors)->step(decodes(65));
    CHECK(cost.device.si() == approx(10));
    double sum = 0;
    for (const Joules part : cost.energy_by_family) sum += part.si();
    return sum;
  };
  CHECK(joules() == approx(1800));
  factors.headroom = Watts(160);
  CHECK(joules() == approx(1600));
  factors.joules = 0.9;
  CHECK(joules() == approx(1350));
}

TEST_CASE("no draw of a device with a power limit draws more than that") {
  const auto scenario = scenario_of(
      "schema: scenario/1\n"
      "model: llama-3.1-8b\n"
      "hardware: {devices: [{preset: h100-sxm, power_limit: 400 W}]}\n"
      "workload: {requests: 40, arrivals: {kind: closed_loop, users: 8}, stream: {kind: lengths, prompt: {kind: fixed, "
      "value: 8000}, output: {kind: fixed, value: 20}}}\n");
  REQUIRE(scenario);
  const auto intervals = run::predict_intervals(*scenario, 2, [] {});
  const auto power = std::ranges::find(intervals.metrics, "mean_w", &result::Interval::metric);
  REQUIRE(power != intervals.metrics.end());
  CHECK(power->high <= 400 * (1 + 1e-9));
  CHECK(power->high > 390);
}

// By hand: a prompt of 4,000 tokens takes 0.4 s and ten tokens 10 ms each at 500 W, 0.5 s x 500 W / 11 = 22.73 J for
// each of 11 tokens. Times 1.1 that is 0.55 s at the same 500 W, 25.0 J.
TEST_CASE("joules that are watts for a time follow the time: a profile draws its busy power whatever the factors") {
  const auto scenario = scenario_of(
      "schema: scenario/1\n"
      "model: llama-3.1-8b\n"
      "hardware: {devices: [{kind: profile, name: p, model: llama-3.1-8b, prompts: [{tokens: 1000, time: 0.1 s, kv: 1 "
      "MB}, {tokens: 5000, time: 0.5 s, kv: 5 MB}], decode: {time_per_token: 10 ms, sequences: 20}, capacity: 1 TB, "
      "kv_tokens: 1000000, idle_power: 100 W, busy_power: 500 W}]}\n"
      "workload: {requests: 1, arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, "
      "value: 4000}, output: {kind: fixed, value: 11}}}\n");
  REQUIRE(scenario);
  // Where in the 30 % either way that are supposed of assumed figures that factor is.
  const auto energy_at = [&](double factor) {
    world::Options options;
    engine::TimeRanks ranks{};
    const double low = std::log(0.7), high = std::log(1.3);
    for (auto& regimes : ranks.by_family) regimes.fill((std::log(factor) - low) / (high - low));
    ranks.joules = -low / (high - low);  // as they are
    options.time_ranks = {ranks};
    Diagnostics diagnostics;
    const auto result = run::run_scenario(*scenario, options, diagnostics);
    REQUIRE(result.energy);
    return std::pair(result.energy->total_joules / 11, result.energy->mean_w);
  };
  CHECK(energy_at(1).first == approx(22.727).epsilon(1e-4));
  CHECK(energy_at(1.1).first == approx(25.0).epsilon(1e-9));
  CHECK(energy_at(1.1).second == approx(500.0).epsilon(1e-9));
}

TEST_CASE("groups of one preset have the errors of one fit, whatever their names; other devices their own") {
  const auto scenario = scenario_of(
      "schema: scenario/1\n"
      "model: llama-3.1-8b\n"
      "hardware: {devices: [{name: a, preset: h100-sxm}, {name: b, preset: h100-sxm, power_limit: 400 W}, {preset: "
      "l40s}]}\n"
      "workload: {requests: 1, arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, "
      "value: 100}, output: {kind: fixed, value: 2}}}\n");
  REQUIRE(scenario);
  for (const std::size_t run : {std::size_t{0}, std::size_t{7}}) {
    const auto ranks = run::interval_ranks(*scenario, run);
    REQUIRE(ranks.size() == 3);
    CHECK(ranks[0].by_family == ranks[1].by_family);
    CHECK(ranks[0].by_family != ranks[2].by_family);
    CHECK(drawn(*scenario, run, 1).headroom.si() == 400 - 121);  // of the catalogue's idle power
  }
  CHECK(run::interval_ranks(*scenario, 0)[0].by_family != run::interval_ranks(*scenario, 7)[0].by_family);
}

// Of two H100 at 400 W and one at 700 W, 121 W of each at rest: 2 x 279 W while the one stage works, 579 W while the
// other does.
TEST_CASE("parts that work in turn draw no more than the largest may; measured steps no more than they did") {
  const auto scenario = scenario_of(
      "schema: scenario/1\n"
      "model: llama-3.1-8b\n"
      "hardware: {devices: [{kind: pipeline, name: p, stages: [{layers: 16, device: {preset: h100-sxm, count: 2, "
      "power_limit: 400 W}}, {layers: 16, device: {preset: h100-sxm}}], link: {bandwidth: 50 GB/s, latency: 5 us, "
      "energy: 10 pJ/bit}}]}\n"
      "workload: {requests: 1, arrivals: {kind: burst, programs: 1}, stream: {kind: lengths, prompt: {kind: fixed, "
      "value: 100}, output: {kind: fixed, value: 2}}}\n");
  REQUIRE(scenario);
  CHECK(drawn(*scenario, 0, 0).headroom.si() == approx(579));
  // 150 W where 80 are allowed: the prediction is the limit, and 1,000 J last 6.67 s.
  engine::TimeFactors factors;
  for (auto& regimes : factors.by_family) regimes.fill(0.5);
  factors.headroom = Watts(80);
  CHECK(with_factors(std::make_unique<PlainStepModel>(), factors)->step(decodes(65)).device.si() ==
        approx(1000.0 / 150));
}

TEST_CASE("a spread that is not known is supposed from the tag, the better the narrower") {
  double last = 0;
  for (const Tag tag : {Tag::measured, Tag::fitted, Tag::datasheet}) {
    const auto spread = hardware::spread_of(tag);
    CHECK(spread[0].back() > last);
    last = spread[0].back();
  }
  // Carried to another model than the one that it was set from, such a figure is worth no more than a data sheet's.
  CHECK(hardware::spread_of(Tag::fitted_end_to_end) == hardware::spread_of(Tag::datasheet));
  hardware::Residuals known;
  known.medium = {-0.01, 0.01};
  CHECK(hardware::spread_of(Tag::assumed, known)[1] == known.medium);
  CHECK(hardware::spread_of(Tag::assumed, known)[0] == hardware::spread_of(Tag::assumed)[0]);
}

TEST_CASE("the interval of a lightly loaded run holds the prediction, and is as wide as the kernels' errors") {
  const auto scenario = scenario_of(kScenario);
  REQUIRE(scenario);
  const auto result = run_on_event_queue(*scenario);
  int runs = 0;
  const auto intervals = run::predict_intervals(*scenario, 2, [&] { ++runs; });
  CHECK(runs == 19);  // between the least and the greatest of them lie (19 - 1) / (19 + 1)
  const auto tpot = std::ranges::find(intervals.metrics, "tpot_s.mean", &result::Interval::metric);
  REQUIRE(tpot != intervals.metrics.end());
  CHECK(tpot->low < result.latency["tpot_s"]->mean);
  CHECK(tpot->high > result.latency["tpot_s"]->mean);
  // Nine tenths of a decode step are products and attention, both known to some 15 %.
  CHECK((tpot->high - tpot->low) / result.latency["tpot_s"]->mean > 0.05);
  CHECK((tpot->high - tpot->low) / result.latency["tpot_s"]->mean < 0.6);
  // On servers: as much wider as the table of metrics says, for means and medians.
  REQUIRE(tpot->server);
  const metrics::ServerSpread& spread = *metrics::find_column("tpot_s.mean")->metric->server;
  CHECK(tpot->server->first == approx(spread.below * tpot->low));
  CHECK(tpot->server->second == approx(spread.above * tpot->high));
  const auto joules = std::ranges::find(intervals.metrics, "joules_per_output_token", &result::Interval::metric);
  REQUIRE(joules->server);
  CHECK(joules->server->second > 1.1 * joules->high);
  CHECK(joules->server->second < metrics::find_column("joules_per_output_token")->metric->server->above * joules->high);
  for (const char* without : {"tpot_s.p99", "e2e_s.mean", "output_tokens_per_s"})
    CHECK_FALSE(std::ranges::find(intervals.metrics, without, &result::Interval::metric)->server);
  // One more child at once, the same numbers.
  const auto again = run::predict_intervals(*scenario, 5, [] {});
  REQUIRE(again.metrics.size() == intervals.metrics.size());
  for (std::size_t i = 0; i < again.metrics.size(); ++i) CHECK(again.metrics[i].high == intervals.metrics[i].high);
}

// An H100 held to 400 W, full of prompts; and one that rests at 121 W but for 10 tokens in five seconds.
TEST_CASE("watts of servers lie between those of devices at rest and the power limit") {
  const auto watts = [](const std::string& device, const std::string& workload) {
    const auto intervals = run::predict_intervals(
        *scenario_of("schema: scenario/1\nmodel: llama-3.2-1b\nhardware: {devices: [{name: g, preset: h100-sxm" +
                     device + "}]}\nworkload: {" + workload + "}\nwindow: {rule: whole}\n"),
        2, [] {});
    return *std::ranges::find(intervals.metrics, "mean_w", &result::Interval::metric)->server;
  };
  const auto full = watts(", power_limit: 400 W",
                          "requests: 8, arrivals: {kind: burst, programs: 8}, stream: {kind: lengths, prompt: {kind: "
                          "fixed, value: 8000}, output: {kind: fixed, value: 1}}");
  CHECK(full.first > 300);
  CHECK(full.second == approx(400).epsilon(1e-9));
  const auto idle = watts("",
                          "requests: 10, arrivals: {kind: periodic, rate: 0.2 /s}, stream: {kind: lengths, prompt: "
                          "{kind: fixed, value: 100}, output: {kind: fixed, value: 10}}");
  CHECK(idle.first > 121);
  CHECK(idle.second < 123);
}

TEST_CASE("what servers did is known of GPUs alone") {
  std::string text = kScenario;
  text.replace(text.find("h100-sxm"), 8, "cpu-epyc-vm");
  text.replace(text.find("llama-3.1-8b"), 12, "llama-3.2-1b");
  const auto intervals = run::predict_intervals(*scenario_of(text), 2, [] {});
  REQUIRE(!intervals.metrics.empty());
  CHECK(std::ranges::none_of(intervals.metrics, [](const auto& interval) { return interval.server.has_value(); }));
}

TEST_CASE("an interruption between two runs of the intervals stops them all") {
  const auto scenario = scenario_of(kScenario);
  REQUIRE(scenario);
  struct Pressed {};
  CHECK_THROWS_AS(run::predict_intervals(*scenario, 2, [] { throw Pressed(); }), Pressed);
}
