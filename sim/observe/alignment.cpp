// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sim/observe/log_start.hpp"

namespace llmscape::observe {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

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
    if (rise == course.samples().end()) continue;
    // A sample stands for the time from midway to the one before it.
    const double at = rise == course.samples().begin() ? rise->at : (std::prev(rise)->at + rise->at) / 2;
    first = std::min(first.value_or(at), at);
  }
  return first;
}

// When work began on the clock of the devices, which another program sampled: by what they draw, and where the engine's
// log tells the time of day as the samples do, not earlier than that is known from its own beginning, as devices
// are loaded at start-up too. Where they draw no more at any time than at others, by that log, else their first sample.
double start_on_devices(Observed& observed, const std::optional<LogStart>& work) {
  const Range range = range_of_devices(observed);
  constexpr double kDay = 86400;  // a smaller number is no time of day
  std::optional<double> told;
  if (work && work->at > kDay && range.first > kDay)
    for (const double at : {work->at, in_year_of(work->at, range.first)})
      if (range.first <= at && at <= range.last) told = at;
  constexpr double kSlow = 2;  // s that meters are late, or clocks apart
  const double since = told ? *told - std::max(kSlow, work->within) : range.first;
  const auto load = first_load(observed, since);
  double start = load.value_or(told.value_or(range.first));
  // A warm-up that only the client tells of loads devices as well.
  if (load && !told && observed.first_call && !observed.requests.empty())
    start += std::ranges::min(observed.requests, {}, &Request::arrival).arrival - *observed.first_call;
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
  const auto work = log_start(observed);
  if (work && work->earlier > std::max(1.0, work->within))
    observed.notes.push_back(fmt::format(
        "engines worked {:.4g} s before the requests began (a warm-up, or others): left out", work->earlier));
  const double devices = start_on_devices(observed, work);
  for (auto& [quantity, by_engine] : observed.courses) {
    double first = is_of_devices(quantity) ? devices : work ? work->at : kUnknown;
    if (first == kUnknown)
      for (const auto& [engine, course] : by_engine)
        if (!course.samples().empty()) first = std::min(first, course.samples().front().at);
    if (first < kUnknown)
      for (auto& [engine, course] : by_engine) course.shift(-first);
  }
}

}  // namespace llmscape::observe
