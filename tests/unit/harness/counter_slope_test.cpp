// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/counter_slope.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <thread>

using llmscape::hardware::harness::CounterSlope;
using namespace std::chrono_literals;

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("a counter that moves in steps has its own slope, whatever the moments of reading") {
  // 400 W in steps of 0.1 s: between 0.05 and 0.59 s it moves by five steps, 200 J in 0.54 s, 370 W from end to end;
  // between 0.05 and 0.61 s by six, 240 J in 0.56 s, 429 W.
  for (const auto lasts : {540ms, 560ms}) {
    const auto start = std::chrono::steady_clock::now();
    const auto joules = [start] { return 40 * std::floor(seconds_since(start) / 0.1); };
    std::this_thread::sleep_for(50ms);
    CounterSlope slope(joules);
    std::this_thread::sleep_for(lasts);
    CHECK(std::abs(slope.per_second() / 400 - 1) < 0.05);  // readings may be 20 ms late on a loaded machine
  }
}

TEST_CASE("where a counter is not seen to move twice, both ends count") {
  const auto start = std::chrono::steady_clock::now();
  CounterSlope slope([start] { return seconds_since(start) > 0.02 ? 5.0 : 0.0; });
  std::this_thread::sleep_for(50ms);
  const double per_second = slope.per_second();
  CHECK(per_second > 0);
  CHECK(per_second <= 100);  // 5 in 0.05 s at least
}
