// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "traces/describe.hpp"

namespace llmscape::traces {

// Mean and variance of a stream in one pass (Welford 1962).
class Moments {
 public:
  void add(double value);
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::optional<double> coefficient_of_variation() const;  // absent when empty or the mean is 0

 private:
  std::int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;  // sum of squared differences from the mean
};

// Arrivals in windows of equal length. Empty windows cost nothing, however long the gap.
class WindowCounts {
 public:
  explicit WindowCounts(double seconds) : seconds_(seconds) {}
  void add(double time);  // not before the time added last
  [[nodiscard]] std::int64_t peak() const { return std::max(peak_, current_count_); }
  // Over the windows that end at or before the time added last.
  [[nodiscard]] std::optional<double> fano() const;
  [[nodiscard]] std::optional<double> empty_share() const;

 private:
  double seconds_;
  std::int64_t current_ = 0, current_count_ = 0;                // the window of the time added last: never whole
  std::int64_t filled_ = 0, sum_ = 0, squares_ = 0, peak_ = 0;  // of the windows before it that are not empty
};

class ArrivalCounter {
 public:
  void add(Seconds arrival);
  [[nodiscard]] ArrivalStatistics statistics() const;

 private:
  std::int64_t requests_ = 0;
  double last_ = 0;
  std::int64_t minute_ = 0;
  Moments gaps_;                  // of all
  Moments minute_gaps_;           // of the current minute
  std::vector<double> busy_cvs_;  // of the minutes before it
  WindowCounts seconds_{1}, minutes_{60};
};

}  // namespace llmscape::traces
