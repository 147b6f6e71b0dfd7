// SPDX-License-Identifier: Apache-2.0
#include "sim/result/cost.hpp"

#include <doctest/doctest.h>

#include "sim/result/result.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using llmscape::testing::approx;

namespace llmscape::result {
namespace {

constexpr Seconds kHour{3600};

EnergyResult joules(double total) {
  EnergyResult energy;
  energy.total_joules = total;
  return energy;
}

// One device for an hour.
GroupTime one(const std::string& group) { return {group, 1, kHour, kHour}; }

CostConfig hourly(double amount) {
  CostConfig cost;
  cost.devices["gpu"].hourly = amount / kHour;
  return cost;
}

}  // namespace

TEST_CASE("4 $/h at 1,000 tokens a second is 1.111 $ for a million tokens") {
  const CostResult result = cost_of(hourly(4), {one("gpu")}, joules(0), 3'600'000, 648'000);
  CHECK(*result.total == approx(4));
  CHECK(*result.per_million_output_tokens == approx(4 / 3.6).epsilon(1e-12));
  CHECK(*result.per_million_answered_tokens == approx(4 / 0.648).epsilon(1e-12));  // 18 % of them: 6.17 $
  CHECK_FALSE(result.capital);
  CHECK_FALSE(result.co2_g);
}

TEST_CASE("rent is paid for the time switched on, capital for all the time") {
  CostConfig cost = hourly(4);
  cost.devices["gpu"].capital = 8760;
  cost.devices["gpu"].lifetime = Seconds(31'536'000);  // a year of 8,760 h: 1 an hour for each device
  const CostResult result = cost_of(cost, {{"gpu", 3, 2 * kHour * 3, kHour * 3}}, joules(0), 1, 1);
  REQUIRE(result.by_kind.size() == 2);
  CHECK(result.by_kind[0].first == "rent");
  CHECK(result.by_kind[0].second == approx(12));
  CHECK(result.by_kind[1].first == "write_off");
  CHECK(result.by_kind[1].second == approx(6));
  CHECK(*result.capital == approx(3 * 8760));
}

TEST_CASE("energy is paid for, and its carbon counted, as the site draws it") {
  CostConfig cost;
  cost.electricity = PerJoule(0.25 / 3.6e6);  // 0.25 /kWh
  cost.carbon = GramsPerJoule(380 / 3.6e6);   // 380 g/kWh
  cost.pue = 1.5;
  const CostResult result = cost_of(cost, {one("gpu")}, joules(7.2e6), 500'000, 125'000);  // 2 kWh, 3 of the site
  CHECK(*result.total == approx(0.75));
  CHECK(*result.per_million_output_tokens == approx(1.5));
  CHECK(*result.co2_g == approx(1140));
  CHECK(*result.co2_g_per_million_output_tokens == approx(2280));
  CHECK(*result.co2_g_per_million_answered_tokens == approx(9120));  // a quarter of them: 1140 / 0.125
  CHECK(result.unpriced.empty());
}

TEST_CASE("what has no price is absent, and groups without one beside others are named") {
  const CostResult nothing = cost_of({}, {one("gpu")}, joules(1), 1, 1);
  CHECK_FALSE(nothing.total);
  CHECK_FALSE(nothing.capital);
  CHECK_FALSE(nothing.co2_g);
  CostConfig some = hourly(4);
  some.electricity = PerJoule(0.25 / 3.6e6);
  const CostResult partly = cost_of(some, {one("edge"), one("gpu")}, joules(7.2e6), 1, 1);
  CHECK(partly.unpriced == std::vector<std::string>{"edge"});
  CHECK_FALSE(partly.total);  // the rent of the one and the electricity of both are no cost of the run
  CHECK_FALSE(partly.per_million_output_tokens);
  CHECK(partly.by_kind.size() == 2);
  CHECK_FALSE(cost_of(hourly(4), {one("gpu")}, joules(0), 0, 0).per_million_output_tokens);
  CostConfig capital;
  capital.devices["gpu"].capital = 30'000;
  const CostResult owned = cost_of(capital, {one("gpu")}, joules(0), 1, 1);
  CHECK(*owned.capital == 30'000);
  CHECK(owned.not_written_off.empty());  // nothing else is money
  capital.electricity = PerJoule(0.25 / 3.6e6);
  CHECK(cost_of(capital, {one("gpu")}, joules(1), 1, 1).not_written_off == std::vector<std::string>{"gpu"});
  capital.devices["gpu"].lifetime = Seconds(1e8);
  CHECK(cost_of(capital, {one("gpu")}, joules(1), 1, 1).not_written_off.empty());
  CHECK_FALSE(owned.total);  // nothing says over which time it is written off
}

TEST_CASE("a run with prices tells money, carbon and tokens per die area, one without does not") {
  const std::string plain =
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{name: gpu, preset: h100-sxm, die_area: 800 mm2, "
      "count: 2}]}\nworkload: {preset: chat-1k, requests: 100}\n";
  const std::string prices =
      "cost: {currency: EUR, devices: {gpu: {hourly: 4 /h}}, electricity: 0.36 /kWh, pue: 1.25, carbon: 100 g/kWh}\n";
  const RunResult result = testing::run_on_event_queue(*testing::scenario_of(plain + prices));
  for (const bool all : {false, true}) {  // of the window, and of the whole run
    const auto& cost = all ? result.overall.cost : result.cost;
    const EnergyResult& joules = all ? result.overall.energy : *result.energy;
    REQUIRE(cost);
    CHECK(cost->currency == "EUR");
    const double time = all ? result.simulated_s : result.window_s;
    const double rent = 2 * 4 * time / 3600, energy = joules.total_joules * 1.25;
    CHECK(*cost->total == approx(rent + energy * 1e-7));
    CHECK(*cost->co2_g == approx(energy * 100 / 3.6e6));
    CHECK(*cost->per_million_output_tokens / *joules.joules_per_output_token ==
          approx(*cost->total * 1e6 / joules.total_joules));
  }
  CHECK(*result.overall.cost->per_million_output_tokens ==
        approx(*result.overall.cost->total * 1e6 / static_cast<double>(result.tokens.emitted)));
  REQUIRE(result.area);
  CHECK(result.area->die_area_mm2 == approx(1600));
  CHECK(result.area->output_tokens_per_s_per_mm2 == approx(result.throughput.output_tokens_per_s / 1600));
  CHECK_FALSE(testing::run_on_event_queue(*testing::scenario_of(plain)).cost);
}

}  // namespace llmscape::result
