// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

namespace llmscape::hardware::harness {

// The mean slope of a counter that moves in steps of its own (a GPU's joules, every few tens of milliseconds): from the
// first of its steps that is seen to the last. Between any two moments instead up to a step at either end is counted
// too much or too little: 0.1 s of 1.5 s are 7 %. Reads the counter every millisecond in a thread of its own.
class CounterSlope {
 public:
  explicit CounterSlope(std::function<double()> read);
  CounterSlope(const CounterSlope&) = delete;
  CounterSlope& operator=(const CounterSlope&) = delete;

  // Ends the reading. By a second; where fewer than two steps were seen, between the two ends.
  [[nodiscard]] double per_second();

 private:
  using Clock = std::chrono::steady_clock;
  struct Reading {
    Clock::time_point at;
    double value = 0;
  };
  [[nodiscard]] Reading reading() const;

  std::function<double()> read_;
  Reading begin_;
  std::optional<Reading> first_, last_;  // as they were seen just behind a step; of the thread until it has ended
  std::jthread thread_;
};

}  // namespace llmscape::hardware::harness
