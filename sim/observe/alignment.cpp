// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

namespace llmscape::observe {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

// When the engines first had work: the moment of the first sample with any, or, since it tells of the time before it,
// that of the sample before. Where that is longer ago than samples are apart, nothing was written while nothing ran.
std::optional<double> first_work(const Observed& observed) {
  std::optional<double> first;
  for (const char* quantity : {quantity::kRunning, quantity::kOutputRate}) {
    const auto found = observed.courses.find(quantity);
    if (found == observed.courses.end()) continue;
    for (const auto& [engine, course] : found->second) {
      const auto& samples = course.samples();
      const auto busy = std::ranges::find_if(samples, [](const auto& s) { return s.value > 0; });
      if (busy == samples.end()) continue;
      double at = busy->at;
      if (busy != samples.begin()) {
        double period = usual_spacing(samples, static_cast<std::size_t>(busy - samples.begin()));
        if (period == 0) period = observed.log_period.value_or(kUnknown);
        at = std::max(std::prev(busy)->at, busy->at - period);
      }
      first = std::min(first.value_or(at), at);
    }
    if (first) break;
  }
  return first;
}

// A moment as a log without years tells it (YearlessClock), in the year of another moment.
double in_year_of(double moment, double other) {
  using namespace std::chrono;
  const auto day_of = [](double at) { return floor<days>(sys_seconds(seconds(static_cast<std::int64_t>(at)))); };
  const year_month_day told(day_of(moment)), beside(day_of(other));
  const sys_days day = beside.year() / told.month() / told.day();
  return moment + static_cast<double>(seconds(day - day_of(moment)).count());
}

struct Range {
  double first = kUnknown, last = -kUnknown;
};

Range range_of_devices(const Observed& observed) {
  Range range;
  for (const auto& [quantity, by_device] : observed.courses)
    for (const auto& [device, course] : by_device) {
      if (!is_of_devices(quantity) || course.samples().empty()) continue;
      range.first = std::min(range.first, course.samples().front().at);
      range.last = std::max(range.last, course.samples().back().at);
    }
  return range;
}

// When devices began to draw what they draw under load: the first sample from `since` on above the middle between the
// least and the ninth decile. Nothing where that is less than twice the least: without load there is no such moment.
std::optional<double> first_load(const Observed& observed, double since) {
  constexpr double kDecile = 0.9, kLoaded = 2;
  std::optional<double> first;
  const auto power = observed.courses.find(quantity::kPower);
  if (power == observed.courses.end()) return first;
  for (const auto& [device, course] : power->second) {
    std::vector<double> watts;
    for (const Course::Sample& s : course.samples()) watts.push_back(s.value);
    if (watts.empty()) continue;
    std::ranges::sort(watts);
    const double least = watts.front();
    const double high = watts[static_cast<std::size_t>(std::ceil(kDecile * static_cast<double>(watts.size() - 1)))];
    if (high < kLoaded * least) continue;
    const auto rise = std::ranges::find_if(
        course.samples(), [&](const auto& s) { return s.at >= since && s.value > (least + high) / 2; });
    if (rise != course.samples().end()) first = std::min(first.value_or(rise->at), rise->at);
  }
  return first;
}

// When work began on the clock of the devices, which another program sampled: by what they draw, and where the engine's
// log tells the time of day as the samples do, not earlier than one of its periods before its own beginning, as devices
// are loaded at start-up too. Where they draw no more at any time than at others, by that log, else their first sample.
double start_on_devices(Observed& observed, const std::optional<double>& work) {
  const Range range = range_of_devices(observed);
  constexpr double kDay = 86400;  // a smaller number is no time of day
  std::optional<double> told;
  if (work && *work > kDay && range.first > kDay)
    for (const double at : {*work, in_year_of(*work, range.first)})
      if (range.first <= at && at <= range.last) told = at;
  const double since = told ? *told - observed.log_period.value_or(0) : range.first;
  const double start = first_load(observed, since).value_or(told.value_or(range.first));
  if (start > range.first)
    observed.notes.push_back(
        fmt::format("devices were sampled {:.4g} s before work began: left out", start - range.first));
  return start;
}

}  // namespace

void align_requests(Observed& observed) {
  std::ranges::stable_sort(observed.requests, {}, &Request::arrival);
  if (!observed.requests.empty()) {
    const double first = observed.requests.front().arrival;
    for (Request& r : observed.requests) r.arrival -= first;
  }
}

void align_courses(Observed& observed) {
  const auto work = first_work(observed);
  const double devices = start_on_devices(observed, work);
  for (auto& [quantity, by_engine] : observed.courses) {
    double first = is_of_devices(quantity) ? devices : work.value_or(kUnknown);
    if (first == kUnknown)
      for (const auto& [engine, course] : by_engine)
        if (!course.samples().empty()) first = std::min(first, course.samples().front().at);
    if (first < kUnknown)
      for (auto& [engine, course] : by_engine) course.shift(-first);
  }
}

}  // namespace llmscape::observe
