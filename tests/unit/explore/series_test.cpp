// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/series.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

using llmscape::testing::approx;

namespace llmscape::explore {
namespace {

// The last window ends where the run does.
double integral(const std::vector<double>& means, double width, double end) {
  const double last = end - width * static_cast<double>(means.size() - 1);
  return std::accumulate(means.begin(), means.end() - 1, 0.) * width + means.back() * last;
}

}  // namespace

TEST_CASE("time lines keep the integral of what they show, however long the run, in a bounded number of windows") {
  for (const double step : {0.001, 0.37, 41.}) {
    Series series;
    metrics::PowerSeries power;
    double waiting = 0, batch = 0, end = 0;
    for (int i = 0; i < 5'000; ++i) {
      const double start = i * step;
      end = start + step * 0.75;  // a quarter of the time no step runs
      series.on_step(i % 3, Seconds(start), Seconds(end), i % 17, 0, i % 5, 8);
      power.add(Seconds(start), Seconds(end), Joules(2));
      waiting += (end - start) * (i % 5);
      batch += (end - start) * (i % 17);
    }
    series.on_power("gpu", power);
    const TimeLines lines = series.lines();
    CAPTURE(step);
    CHECK(lines.waiting.size() <= Series::kMost);
    CHECK(lines.waiting.size() > Series::kMost / 4);
    CHECK(lines.window_s * static_cast<double>(lines.waiting.size()) >= end);
    CHECK(integral(lines.waiting, lines.window_s, end) == approx(waiting).epsilon(1e-9));
    CHECK(integral(lines.batch, lines.window_s, end) == approx(batch).epsilon(1e-9));
    CHECK(integral(lines.kv_blocks, lines.window_s, end) == approx(8 * 5'000 * 0.75 * step).epsilon(1e-9));
    CHECK(integral(lines.power_w, lines.window_s, end) == approx(2 * 5'000).epsilon(1e-9));
    CHECK(lines.largest_batch == 16);
  }
}

// 96 windows of 1/1024 s hold 93.75 ms, so that 100 ms have windows of 1/512 s: 51.2 of them, the last one a fifth.
TEST_CASE("the last window of a run is the mean of what the run covers of it") {
  Series series;
  metrics::PowerSeries power;
  power.add(Seconds(), Seconds(0.1), Joules(70));
  series.on_step(0, Seconds(), Seconds(0.1), 8, 0, 3, 40);
  series.on_power("gpu", power);
  const TimeLines lines = series.lines();
  REQUIRE(lines.window_s == 1.0 / 512);
  REQUIRE(lines.power_w.size() == 52);
  CHECK(lines.power_w.front() == approx(700));
  CHECK(lines.power_w.back() == approx(700));  // 140 W, of all the window
  CHECK(lines.waiting.back() == approx(3));
  CHECK(lines.batch.back() == approx(8));
  CHECK(lines.kv_blocks.back() == approx(40));
}

TEST_CASE("what ends at the edge of a window has no empty one behind it") {
  Series series;
  metrics::PowerSeries power;
  power.add(Seconds(), Seconds(2.0 / 1024), Joules(1));
  series.on_step(0, Seconds(), Seconds(2.0 / 1024), 8, 0, 3, 40);
  series.on_power("gpu", power);
  CHECK(series.lines().power_w == std::vector<double>{512, 512});
}

TEST_CASE("a run without a step has no time lines") {
  const TimeLines lines = Series().lines();
  CHECK(lines.waiting.empty());
  CHECK(lines.power_w.empty());
}

}  // namespace llmscape::explore
