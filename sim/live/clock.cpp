// SPDX-License-Identifier: Apache-2.0
#include "sim/live/clock.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace llmscape::live {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Clock::Clock(Kind kind) : kind_(kind), origin_(wall_seconds()) {}

void Clock::wait_until(double at) {
  if (kind_ == Kind::wall) {
    while (now() < at) std::this_thread::sleep_for(std::chrono::duration<double>(at - now()));
  } else {
    passed_ = std::max(passed_, at);
  }
}

}  // namespace llmscape::live
