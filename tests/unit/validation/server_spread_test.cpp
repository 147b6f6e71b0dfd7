// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/server_spread.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/approx.hpp"

using llmscape::testing::approx;

namespace llmscape::validation {
namespace {

// Rows whose kernels' interval is 9 to 11 and whose servers took these times, of `deployments` in turn. `idle`: of
// joules that are known.
struct TimedRows {
  explicit TimedRows(const std::vector<double>& times, int deployments = 2, double idle = 0) : measured(times.size()) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      measured[i].measured = {times[i]};
      measured[i].columns["engine"] = static_cast<double>(i % static_cast<std::size_t>(deployments));
      intervals.push_back({&measured[i], {std::pair(metrics::End{9, idle, {}}, metrics::End{11, idle, {}})}});
    }
  }
  std::vector<MeasuredRow> measured;
  std::vector<RowIntervals> intervals;
};

}  // namespace

TEST_CASE("a spread is how far rows lie beyond the ends, at its quantile; rows inside count for nothing") {
  std::vector<double> times(98, 10);
  times.push_back(22);   // twice the high end
  times.push_back(4.5);  // half the low end
  // 0.96 of 101 is rank 97: the fourth from the top.
  const TimedRows few(times);
  CHECK(server_spread(few.intervals, 0).above == 1);
  CHECK(server_spread(few.intervals, 0).below == 1);
  for (std::size_t i = 0; i < 3; ++i) times[i] = 22;
  for (std::size_t i = 3; i < 9; ++i) times[i] = 4.5;
  const TimedRows many(times);
  CHECK(server_spread(many.intervals, 0).above == approx(2));
  CHECK(server_spread(many.intervals, 0).below == approx(0.5));
}

TEST_CASE("of joules only what lies above those at rest is spread, and that no further than the limit") {
  // (22 - 7) / (11 - 7) above, (9 - 7) / (8 - 7) below.
  std::vector<double> joules(60, 22);
  for (std::size_t i = 0; i < 30; ++i) joules[i] = 8;
  const TimedRows rows(joules, 2, 7);
  const metrics::ServerSpread spread = server_spread(rows.intervals, 0);
  CHECK(spread.above == approx(3.75));
  CHECK(spread.below == approx(0.5));
  // Of 9 to 11 with 7 at rest: 7 + 0.5 x 2 and 7 + 3.75 x 4.
  const auto ends = metrics::on_servers(spread, {9, 7, {}}, {11, 7, {}});
  CHECK(ends.first == approx(8));
  CHECK(ends.second == approx(22));
  CHECK(metrics::on_servers(spread, {9, 7, 20}, {11, 7, 20}).second == 20);
  CHECK(metrics::on_servers(spread, {7, 7, {}}, {7, 7, {}}).first == 7);
}

TEST_CASE("rows of a deployment do not widen the intervals that hold them") {
  // One of two deployments took twice as long throughout: what the other gives holds none of its rows.
  std::vector<double> times(60, 10);
  for (std::size_t i = 0; i < times.size(); i += 2) times[i] = 22;
  const TimedRows rows(times);
  CHECK(server_spread(rows.intervals, 0).above == approx(2));
  CHECK(held_out_share(rows.intervals, 0, {"engine"}) == approx(0.5));
  CHECK(held_out_share(TimedRows(std::vector<double>(60, 10.5)).intervals, 0, {"engine"}) == 1);
  CHECK(held_out_share({}, 0, {"engine"}) == 0);
}

}  // namespace llmscape::validation
