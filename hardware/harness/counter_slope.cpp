// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/counter_slope.hpp"

#include <utility>

namespace llmscape::hardware::harness {

CounterSlope::CounterSlope(std::function<double()> read)
    : read_(std::move(read)), begin_(reading()), thread_([this](const std::stop_token& stop) {
        double seen = begin_.value;
        while (!stop.stop_requested()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          const Reading now = reading();
          if (now.value == seen) continue;
          seen = now.value;
          if (!first_) first_ = now;
          last_ = now;
        }
      }) {}

CounterSlope::Reading CounterSlope::reading() const { return {Clock::now(), read_()}; }

double CounterSlope::per_second() {
  const Reading end = reading();
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  const bool steps = first_ && last_->at > first_->at;
  const Reading& from = steps ? *first_ : begin_;
  const Reading& to = steps ? *last_ : end;
  return (to.value - from.value) / std::chrono::duration<double>(to.at - from.at).count();
}

}  // namespace llmscape::hardware::harness
