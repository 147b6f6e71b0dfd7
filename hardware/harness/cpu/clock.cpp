// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu/clock.hpp"

#include <time.h>

#include <algorithm>
#include <array>

namespace llmscape::hardware::harness {

Seconds thread_cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return Seconds(static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9);
}

Seconds clock_cost() {
  static const Seconds cost = [] {
    std::array<Seconds, 201> gaps;
    for (Seconds& gap : gaps) {
      const Seconds before = thread_cpu_time();
      gap = thread_cpu_time() - before;
    }
    std::ranges::nth_element(gaps, gaps.begin() + gaps.size() / 2);
    return gaps[gaps.size() / 2];
  }();
  return cost;
}

}  // namespace llmscape::hardware::harness
