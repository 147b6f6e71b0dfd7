// SPDX-License-Identifier: Apache-2.0
#include "traces/arrival_counter.hpp"

#include <cmath>

namespace llmscape::traces {
namespace {

// Appends the coefficient of variation of a minute that has at least 60 arrivals, one more than gaps.
void append_if_busy(const Moments& gaps, std::vector<double>& cvs) {
  if (gaps.count() + 1 < 60) return;
  if (const auto cv = gaps.coefficient_of_variation()) cvs.push_back(*cv);
}

double median(std::vector<double> values) {
  const std::size_t middle = values.size() / 2;
  std::ranges::sort(values);
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

void Moments::add(double value) {
  const double difference = value - mean_;
  mean_ += difference / static_cast<double>(++count_);
  squares_ += difference * (value - mean_);
}

std::optional<double> Moments::coefficient_of_variation() const {
  if (count_ < 2 || mean_ == 0) return std::nullopt;
  return std::sqrt(squares_ / static_cast<double>(count_)) / mean_;
}

void WindowCounts::add(double time) {
  const auto window = static_cast<std::int64_t>(time / seconds_);
  if (window != current_) {
    filled_ += current_count_ > 0;
    sum_ += current_count_;
    squares_ += current_count_ * current_count_;
    peak_ = peak();
    current_ = window;
    current_count_ = 0;
  }
  ++current_count_;
}

std::optional<double> WindowCounts::fano() const {
  if (current_ < 2) return std::nullopt;
  const auto windows = static_cast<double>(current_);
  const double mean = static_cast<double>(sum_) / windows;
  return (static_cast<double>(squares_) / windows - mean * mean) / mean;
}

std::optional<double> WindowCounts::empty_share() const {
  if (current_ == 0) return std::nullopt;
  return static_cast<double>(current_ - filled_) / static_cast<double>(current_);
}

void ArrivalCounter::add(Seconds arrival) {
  const double time = arrival.si();
  const auto minute = static_cast<std::int64_t>(time / 60);
  if (minute != minute_) {
    append_if_busy(minute_gaps_, busy_cvs_);
    minute_gaps_ = {};
    minute_ = minute;
  } else if (requests_ > 0) {
    minute_gaps_.add(time - last_);
  }
  if (requests_ > 0) gaps_.add(time - last_);
  seconds_.add(time);
  minutes_.add(time);
  last_ = time;
  ++requests_;
}

ArrivalStatistics ArrivalCounter::statistics() const {
  ArrivalStatistics out;
  out.duration = Seconds(last_);
  if (last_ > 0) out.rate = static_cast<double>(requests_) / out.duration;
  out.peak_minute = static_cast<double>(minutes_.peak()) / Seconds(60);
  out.interarrival_cv = gaps_.coefficient_of_variation();
  std::vector<double> busy = busy_cvs_;
  append_if_busy(minute_gaps_, busy);
  out.busy_minutes = static_cast<std::int64_t>(busy.size());
  if (!busy.empty()) out.busy_cv = median(std::move(busy));
  out.fano_1_s = seconds_.fano();
  out.fano_60_s = minutes_.fano();
  out.empty_minutes = minutes_.empty_share();
  return out;
}

}  // namespace llmscape::traces
