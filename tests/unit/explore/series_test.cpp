// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/series.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

using llmscape::testing::approx;

namespace llmscape::explore {
namespace {

double integral(const std::vector<double>& means, double width) {
  return std::accumulate(means.begin(), means.end(), 0.) * width;
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
    CHECK(integral(lines.waiting, lines.window_s) == approx(waiting).epsilon(1e-9));
    CHECK(integral(lines.batch, lines.window_s) == approx(batch).epsilon(1e-9));
    CHECK(integral(lines.kv_blocks, lines.window_s) == approx(8 * 5'000 * 0.75 * step).epsilon(1e-9));
    CHECK(integral(lines.power_w, lines.window_s) == approx(2 * 5'000).epsilon(1e-9));
    CHECK(lines.largest_batch == 16);
  }
}

TEST_CASE("a run without a step has no time lines") {
  const TimeLines lines = Series().lines();
  CHECK(lines.waiting.empty());
  CHECK(lines.power_w.empty());
}

}  // namespace llmscape::explore
