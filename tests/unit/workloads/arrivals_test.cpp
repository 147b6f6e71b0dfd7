// SPDX-License-Identifier: Apache-2.0
#include "tests/support/approx.hpp"
#include "tests/unit/workloads/support.hpp"
#include "workloads/arrivals/drifting.hpp"

#include <algorithm>
#include <cmath>

using llmscape::testing::approx;

namespace llmscape::workloads {
namespace {

std::vector<double> starts_of(const std::string& law, int n) {
  const auto clock = read(arrivals(), law)->clock(RandomStream(3));
  std::vector<double> starts;
  for (int i = 0; i < n; ++i) starts.push_back(clock->next().si());
  return starts;
}

std::vector<double> gaps_of(const std::vector<double>& starts) {
  std::vector<double> gaps;
  for (std::size_t i = 0; i < starts.size(); ++i) gaps.push_back(i == 0 ? starts[0] : starts[i] - starts[i - 1]);
  return gaps;
}

double starts_before(const std::vector<double>& starts, double t) {
  return static_cast<double>(std::lower_bound(starts.begin(), starts.end(), t) - starts.begin());
}

}  // namespace

TEST_CASE("renewal arrivals have the rate and the cv of their law") {
  struct Case {
    std::string law;
    double cv, kurtosis;  // of the gaps, from the law's moments
  };
  // Weibull with shape 1/2: moments scale^k Gamma(1 + 2k), so cv^2 = 24 / 4 - 1 and kurtosis 87.72.
  for (const auto& [law, cv, kurtosis] :
       {Case{"{kind: poisson, rate: 8 /s}", 1, 9}, Case{"{kind: gamma, rate: 8 /s, cv: 2}", 2, 27},
        Case{"{kind: gamma, rate: 8 /s, cv: 0.5}", 0.5, 4.5},
        Case{"{kind: weibull, rate: 8 /s, shape: 0.5}", std::sqrt(5), 87.72}}) {
    CAPTURE(law);
    constexpr int kStarts = 100'000;
    const Moments m = moments_of(gaps_of(starts_of(law, kStarts)));
    CHECK(std::abs(m.mean * 8 - 1) < 4 * cv / std::sqrt(kStarts));
    CHECK(std::abs(m.cv / cv - 1) < 4 * std::sqrt((kurtosis - 1) / kStarts) / 2);
  }
}

TEST_CASE("periodic arrivals come at equal distances from one distance after time 0") {
  CHECK(starts_of("{kind: periodic, rate: 4 /s}", 4) == std::vector<double>{0.25, 0.5, 0.75, 1.0});
}

TEST_CASE("on-off arrivals have the share of the rate that they are on, and the dispersion of their theory") {
  // Means 1 s on and 3 s off at 40 /s: 10 /s in the long run. Interrupted Poisson process: variance over mean of the
  // counts in long windows is 1 + 2 rate a / (a + b)^2 with a = 1 / on, b = 1 / off: 1 + 80 / (4/3)^2 = 46; windows of
  // 100 s lack 1 / (100 (a + b)) of the part above 1.
  constexpr int kWindows = 2000;
  constexpr double kWindow = 100;
  const auto starts = starts_of("{kind: on_off, rate: 40 /s, on: 1 s, off: 3 s}", 2'100'000);
  REQUIRE(starts.back() > kWindows * kWindow);
  std::vector<double> counts;
  for (int i = 0; i < kWindows; ++i)
    counts.push_back(starts_before(starts, (i + 1) * kWindow) - starts_before(starts, i * kWindow));
  const Moments m = moments_of(counts);
  const double dispersion = 1 + 45 * (1 - 1 / (kWindow * 4 / 3));
  CHECK(std::abs(m.mean / 1000 - 1) < 4 * std::sqrt(dispersion / (1000.0 * kWindows)));
  CHECK(std::abs(m.cv * m.cv * m.mean / dispersion - 1) < 4 * std::sqrt(2.0 / kWindows));
}

TEST_CASE(
    "drifting arrivals have the rate and, in windows of any length, the dispersion of a doubly stochastic process") {
  // 10 /s, one drift of cv 0.5 that lasts 4 s: in windows of 4 s the part above 1 is 10 x 0.25 x 2 x 4 s x (1 - 1 + 1 /
  // e) = 7.358; in windows of 0.4 s, w / t = 0.1: 10 x 0.25 x 2 x 40 x (0.1 - 1 + exp(-0.1)) = 0.967.
  const std::string one = "{kind: drifting, rate: 10 /s, drifts: [{cv: 0.5, time: 4 s}]}";
  const auto law = std::dynamic_pointer_cast<const DriftingArrivals>(read(arrivals(), one));
  REQUIRE(law);
  CHECK(fano(*law, Seconds(4)) == approx(8.358).epsilon(1e-3));
  CHECK(fano(*law, Seconds(0.4)) == approx(1.967).epsilon(1e-3));
  // A second one of cv 1 and the same time: v = 1/4 and 1 at 4 s, and their product 1/4 at 2 s. In windows of 4 s:
  // 10 x (5/4 x 2 x 4 x 0.3679 + 1/4 x 2 x 2 / 2 x (2 - 1 + exp(-2))) = 42.46.
  const std::string two = "{kind: drifting, rate: 10 /s, drifts: [{cv: 0.5, time: 4 s}, {cv: 1, time: 4 s}]}";
  const auto both = std::dynamic_pointer_cast<const DriftingArrivals>(read(arrivals(), two));
  REQUIRE(both);
  CHECK(fano(*both, Seconds(4)) == approx(43.46).epsilon(1e-3));
  for (const auto& [text, drifting] : {std::pair(one, law), {two, both}}) {
    CAPTURE(text);
    const auto starts = starts_of(text, 1'000'000);
    CHECK(starts_before(starts, 90'000) / 900'000 == approx(1).epsilon(0.03));
    for (const double window : {0.4, 4.0, 40.0}) {
      std::vector<double> counts;
      for (double from = 0; from + window <= 90'000; from += window)
        counts.push_back(starts_before(starts, from + window) - starts_before(starts, from));
      const Moments m = moments_of(counts);
      CHECK(m.cv * m.cv * m.mean == approx(fano(*drifting, Seconds(window))).epsilon(0.12));
    }
  }
}

TEST_CASE("arrivals without drifts are poisson, and a mistaken drift is refused") {
  const auto law = std::dynamic_pointer_cast<const DriftingArrivals>(read(arrivals(), "{kind: drifting, rate: 8 /s}"));
  REQUIRE(law);
  CHECK(fano(*law, Seconds(60)) == 1);
  const Moments m = moments_of(gaps_of(starts_of("{kind: drifting, rate: 8 /s}", 100'000)));
  CHECK(m.mean * 8 == approx(1).epsilon(0.0127));  // four standard errors
  CHECK(m.cv == approx(1).epsilon(0.02));
  const std::string mistakes =
      mistakes_of("{requests: 1, stream: chat, arrivals: {kind: drifting, rate: 1 /s, drifts: [{cv: 1, time: 1 us}]}}");
  CHECK(mistakes.find("'rate' x 'time' of a drift must be at least 0.0001 programs") != std::string::npos);
}

TEST_CASE("an on-off source is on at time 0 as often as at any other time") {
  // On for 1 s in 4 s, with a start every 0.1 ms: whoever starts in the first 10 ms was on.
  const auto law = read(arrivals(), "{kind: on_off, rate: 10_000 /s, on: 1 s, off: 3 s}");
  constexpr int kSources = 10'000;
  int on = 0;
  for (std::uint64_t key = 0; key < kSources; ++key)
    if (law->clock(RandomStream(key))->next() < Seconds(0.01)) ++on;
  // In 10 ms, 0.25 % of the sources go on besides.
  CHECK(std::abs(on / static_cast<double>(kSources) - 0.2525) < 4 * std::sqrt(0.25 * 0.75 / kSources));
}

TEST_CASE("a ramp starts the integral of its rate, and goes on at the final rate") {
  const auto starts = starts_of("{kind: ramp, from: 0 /s, to: 100 /s, over: 100 s}", 20'000);
  for (const auto& [t, expected] : {std::pair(50.0, 1250.0), {100.0, 5000.0}, {150.0, 10'000.0}})
    CHECK(std::abs(starts_before(starts, t) - expected) < 4 * std::sqrt(expected));
}

TEST_CASE("a ramp that falls to nothing ends") {
  const auto starts = starts_of("{kind: ramp, from: 10 /s, to: 0 /s, over: 100 s}", 1000);
  const double before_end = starts_before(starts, 100);
  CHECK(std::abs(before_end - 500) < 4 * std::sqrt(500));
  CHECK(starts.back() == kNever.si());
  CHECK(starts_before(starts, 1e300) == before_end);
}

TEST_CASE("a burst is its number of programs at time 0 and nothing after") {
  CHECK(starts_of("{kind: burst, programs: 2}", 3) == std::vector<double>{0, 0, kNever.si()});
}

TEST_CASE("starts never go back, whatever the law") {
  for (const std::string law :
       {"{kind: poisson, rate: 1 /s}", "{kind: gamma, rate: 1 /s, cv: 4}", "{kind: weibull, rate: 1 /s, shape: 0.4}",
        "{kind: periodic, rate: 1 /s}", "{kind: on_off, rate: 5 /s, on: 2 s, off: 8 s}",
        "{kind: ramp, from: 5 /s, to: 1 /s, over: 100 s}", "{kind: burst, programs: 10}",
        "{kind: closed_loop, users: 3}", "{kind: drifting, rate: 3 /s, drifts: [{cv: 2, time: 5 s}]}"}) {
    CAPTURE(law);
    const auto starts = starts_of(law, 10'000);
    CHECK(std::is_sorted(starts.begin(), starts.end()));
    CHECK(starts.front() >= 0);
  }
}

}  // namespace llmscape::workloads
