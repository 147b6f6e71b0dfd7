// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/verdict.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"

namespace llmscape::metrics {
namespace {

// A server that takes one second a task, in order: waits and open tasks, as an observer would see them.
// Of the tasks that have ended the share `lost` is said to be so.
Verdict verdict_of(double rate, int tasks, bool rate_is_stated, std::uint64_t seed, double lost = 0) {
  RandomStream random(seed);
  Backlog backlog;
  WaitSeries waits;
  std::vector<double> ends;
  double at = 0, free_at = 0;
  std::size_t ended = 0;
  for (int i = 0; i < tasks; ++i) {
    at += random.exponential(1 / rate);
    const double start = std::max(at, free_at);
    free_at = start + 1;
    ends.push_back(free_at);
    while (ended < ends.size() && ends[ended] <= at) ++ended;
    backlog.add(Seconds(at), i + 1 - static_cast<std::int64_t>(ended),
                static_cast<std::int64_t>(lost * static_cast<double>(ended)));
    waits.add(Seconds(at), free_at - at);
  }
  VerdictInput input;
  input.completed = tasks;
  if (rate_is_stated) input.offered = PerSecond(rate);
  input.backlog = &backlog;
  input.waits = &waits;
  const std::vector<double> steady(20, 1.0);
  input.ttft_batch_p99 = &steady;
  return judge(input);
}

}  // namespace

TEST_CASE("M/D/1: at 1.1 of the capacity a run is saturated, at 0.9 it is not, from 1,000 tasks on") {
  for (const int tasks : {1000, 3000, 10'000, 100'000}) {
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      if (verdict_of(1.1, tasks, true, seed).state != Verdict::State::saturated) ++wrong;
      if (verdict_of(0.9, tasks, true, seed).state == Verdict::State::saturated) ++wrong;
    }
    CAPTURE(tasks);
    CHECK(wrong == 0);
  }
}

// The queue grows by 2.9 % of the calls for ever: the last of 100,000 waits for 2,900 seconds.
TEST_CASE("long runs tell a small overload, and are not fooled by a load just below the capacity") {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    if (verdict_of(1.029, 100'000, true, seed).state != Verdict::State::saturated) ++wrong;
    if (verdict_of(0.98, 100'000, true, seed).state == Verdict::State::saturated) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a queue that waxes and wanes is no overload: M/D/1 at 0.8, as of a trace, which states no rate") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    CHECK(verdict_of(0.8, 5000, false, seed).state != Verdict::State::saturated);
}

TEST_CASE("the reason names the offered and the served rate") {
  const Verdict verdict = verdict_of(1.5, 3000, true, 1);
  REQUIRE(verdict.state == Verdict::State::saturated);
  CHECK(verdict.reasons[0].find("1.5 tasks/s were offered and 1 served since") != std::string::npos);
  const Verdict with_lost = verdict_of(1.5, 3000, true, 1, 0.25);
  REQUIRE(with_lost.state == Verdict::State::saturated);
  CHECK(with_lost.reasons[0].find("offered and 0.75 served (0.25 lost) since") != std::string::npos);
}

}  // namespace llmscape::metrics
