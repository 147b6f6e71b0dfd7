// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/power_series.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/random.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::metrics {

using testing::approx;

namespace {

constexpr Seconds kWindow = PowerSeries::kNarrowest;

}  // namespace

TEST_CASE("energy is spread over the windows that it covers, evenly in time") {
  PowerSeries power;
  power.add(kWindow * 0.5, kWindow * 2.5, Joules(8));  // half a window, a whole one, half a window
  REQUIRE(power.windows().size() == 3);
  CHECK(power.windows()[0] == Joules(2));
  CHECK(power.windows()[1] == Joules(4));
  CHECK(power.windows()[2] == Joules(2));
  CHECK(power.peak() == Joules(8) / (kWindow * 2.5));    // all of it is shorter than a slice
  CHECK(power.power(2) == Joules(2) / (kWindow * 0.5));  // spending ends in the middle of the last window
}

TEST_CASE("energy that takes no time falls into the window of its instant") {
  PowerSeries power;
  power.add(kWindow * 1.25, kWindow * 1.25, Joules(3));
  CHECK(power.windows() == std::vector{Joules(0), Joules(3)});
  CHECK(power.total() == Joules(3));
}

TEST_CASE("a series that outgrows its windows doubles them, and keeps every joule") {
  PowerSeries power;
  const std::size_t most = PowerSeries::kMost;
  for (std::size_t i = 0; i < most; ++i)
    power.add(kWindow * static_cast<double>(i), kWindow * (static_cast<double>(i) + 0.5), Joules(i % 2 == 0 ? 1 : 3));
  CHECK(power.window() == kWindow);
  CHECK(power.power(most - 1) == Joules(3) / (kWindow * 0.5));  // the last window counts as far as it was lived
  CHECK(power.peak() == Joules(2 * 1024) / Seconds(1));         // three whole slices, and one without its last half
  power.add(kWindow * (4.0 * most), kWindow * (4.0 * most), Joules());
  CHECK(power.window() == kWindow * 8);
  CHECK(power.total() == Joules(2.0 * most));
  CHECK(power.windows().size() <= most);
  CHECK(power.peak() == Joules(2 * 1024) / Seconds(1));
}

TEST_CASE("the order of spending changes nothing, and the sum of series of unlike windows keeps every joule") {
  RandomStream random(3);
  PowerSeries ahead, back, shorter;
  std::vector<std::pair<double, double>> steps;
  for (int i = 0; i < 1000; ++i) steps.emplace_back(random.integer(0, 1 << 14), random.integer(0, 64));
  const auto add = [](PowerSeries& series,
                      std::pair<double, double> step) {  // 1 J in each 1/1024 s: exact in any order
    const Seconds from = kWindow * step.first;
    series.add(from, from + kWindow * step.second, Joules(step.second));
  };
  for (const auto& step : steps) add(ahead, step);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) add(back, *step);
  CHECK(ahead.window() == back.window());
  CHECK(ahead.windows() == back.windows());
  add(shorter, {7, 100});
  CHECK(shorter.window() < ahead.window());
  const Joules before = ahead.total();
  PowerSeries sum = shorter;
  sum.add(ahead);
  ahead.add(shorter);
  CHECK(ahead.windows() == sum.windows());
  CHECK(ahead.total() == before + Joules(100));
}

TEST_CASE("any energies come to the same bits in any order, in one series or in several that are added") {
  RandomStream random(4);
  struct Spent {
    Seconds from, to;
    Joules energy;
  };
  std::vector<Spent> steps;
  for (int i = 0; i < 2000; ++i) {
    const Seconds from(60 * random.uniform());
    steps.push_back({from, from + Seconds(0.05 * random.uniform()), Joules(1e-6 + 10 * random.uniform())});
  }
  PowerSeries ahead, back, sum;
  std::array<PowerSeries, 3> parts;
  for (const Spent& step : steps) ahead.add(step.from, step.to, step.energy);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) back.add(step->from, step->to, step->energy);
  for (std::size_t i = 0; i < steps.size(); ++i) parts[i % 3].add(steps[i].from, steps[i].to, steps[i].energy);
  for (const PowerSeries& part : parts) sum.add(part);
  CHECK(ahead.window() > kWindow);
  CHECK(ahead.windows() == back.windows());
  CHECK(ahead.windows() == sum.windows());
  CHECK(ahead.total() == back.total());
}

TEST_CASE("what is spent alike is added at once: 1,000 times a third of a joule is 1,000 additions, to the last bit") {
  PowerSeries one, at_once, each;
  const Seconds from = kWindow * 0.3, to = kWindow * (3.0 * PowerSeries::kMost);  // wider than the narrowest windows
  one.add(from, to, Joules(1.0 / 3));
  for (PowerSeries* power : {&at_once, &each}) power->add(kWindow, kWindow * 2, Joules(0.1));
  at_once.add(one, 1000);
  for (int i = 0; i < 1000; ++i) each.add(from, to, Joules(1.0 / 3));
  CHECK(at_once.windows() == each.windows());
  CHECK(at_once.end() == each.end());
  CHECK(at_once.window() == each.window());
}

// A second at 500 W in every ten, 100 W else: 500 W, whether 50 s or 5,000 are looked at, until slices must be longer.
TEST_CASE("the peak of a run does not depend on its length, nor on where it ends in a slice") {
  for (const double seconds : {50.3, 500.3, 4000.3}) {
    CAPTURE(seconds);
    PowerSeries power;
    for (double at = 0; at < seconds; at += 10) {
      power.add(Seconds(at), Seconds(std::min(at + 1, seconds)), Joules(500 * std::min(1.0, seconds - at)));
      power.add(Seconds(std::min(at + 1, seconds)), Seconds(std::min(at + 10, seconds)),
                Joules(100 * std::max(0.0, std::min(9.0, seconds - at - 1))));
    }
    CHECK(power.slice() == Seconds(1));
    CHECK(power.peak().si() == approx(500));
    CHECK(power.peak(Seconds(11), Seconds(19)).si() == approx(100));
  }
}

TEST_CASE("no window draws more than the most that is drawn at once, and the peak is never below the mean") {
  RandomStream random(5);
  PowerSeries power;
  Seconds at;
  double most = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Seconds to = at + Seconds(1e-4 + 0.01 * random.uniform());
    const double watts = 100 + 600 * random.uniform();
    power.add(at, to, Watts(watts) * (to - at));
    most = std::max(most, watts);
    at = to;
  }
  CHECK(power.peak().si() <= most * (1 + 1e-12));
  CHECK(power.peak() >= power.total() / at);
}

}  // namespace llmscape::metrics
