// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/log_start.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "sim/observe/covered.hpp"

namespace llmscape::observe {
namespace {

constexpr double kUntold = std::numeric_limits<double>::infinity();

// A moment at which an engine that had rested began to work, by its own samples.
struct Onset {
  double at = 0;
  double within = 0;  // it may be so much later
};

// By the first sample with any work, or, since it tells of the time before it, by that of the sample before. Where that
// is longer ago than samples are apart, nothing was written while nothing ran.
std::vector<Onset> onsets_of(const Observed& observed) {
  std::vector<Onset> all;
  for (const char* quantity : {quantity::kRunning, quantity::kOutputRate, quantity::kPromptRate}) {
    const auto found = observed.courses.find(quantity);
    if (found == observed.courses.end()) continue;
    for (const auto& [engine, course] : found->second) {
      const auto& samples = course.samples();
      for (std::size_t i = 0; i < samples.size(); ++i) {
        if (samples[i].value <= 0) continue;
        if (i == 0) {
          all.push_back({samples[i].at, 0});
          continue;
        }
        double period = usual_spacing(samples, i);
        if (period == 0) period = observed.log_period.value_or(kUntold);
        const double gap = samples[i].at - samples[i - 1].at;
        const bool rested =
            samples[i - 1].value <= 0 || gap > std::max(kSilent * period, observed.quiet_after.value_or(0));
        if (rested) all.push_back({samples[i].at - std::min(period, gap), std::min(period, gap)});
        // Later ones of a server that is never idle are of no use, and of one that often is there are enough.
        constexpr std::size_t kMost = 1000;
        if (all.size() >= kMost) break;
        while (i + 1 < samples.size() && samples[i + 1].value > 0 &&
               samples[i + 1].at - samples[i].at <= std::max(kSilent * period, observed.quiet_after.value_or(0)))
          ++i;
      }
    }
  }
  std::ranges::sort(all, {}, &Onset::at);
  return all;
}

// Output tokens as the requests tell them, in equal pieces of time since the first of them came.
class ToldTokens {
 public:
  ToldTokens(const Observed& observed, double step) : step_(step) {
    double first = kUntold, last = 0;
    for (const Request& r : observed.requests) first = std::min(first, r.arrival);
    for (const Request& r : observed.requests) last = std::max(last, r.end() - first);
    constexpr double kMost = 2'000;
    step_ = std::max(step_, last / kMost);
    bins_.resize(static_cast<std::size_t>(std::ceil(last / step_)) + 1);
    for (const Request& r : observed.requests) {
      if (!r.ttft || !r.e2e || r.output_tokens < 1) continue;
      known_ = true;
      const double begin = r.arrival - first + *r.ttft, end = r.arrival - first + *r.e2e;
      bin(begin) += 1;
      const double rate = static_cast<double>(r.output_tokens - 1) / std::max(end - begin, 1e-9);
      for (double at = begin; at < end;) {
        const double until = std::min(end, (std::floor(at / step_ + 1e-9) + 1) * step_);
        bin((at + until) / 2) += rate * (until - at);
        at = until;
      }
    }
  }
  [[nodiscard]] bool known() const { return known_; }

  // The sum of squares by which the engines' rates differ from these, if the first request came at `start`; what the
  // engines did at other times than the requests is in it too, `theirs` being the sum of their squares.
  [[nodiscard]] double misfit(const std::vector<Covered>& engines, double start, double theirs) const {
    double sum = theirs / step_;
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      const double from = start + static_cast<double>(i) * step_, told = bins_[i] / step_;
      if (told == 0) continue;
      double measured = 0;
      for (const Covered& engine : engines) measured += engine.mean(from, from + step_).value_or(0);
      sum += told * (told - 2 * measured);
    }
    return sum;
  }

 private:
  double& bin(double at) { return bins_[std::min(bins_.size() - 1, static_cast<std::size_t>(at / step_))]; }
  double step_;
  std::vector<double> bins_;
  bool known_ = false;
};

// Where both clocks tell a time of day: the first request on that of the engines, in each zone in which these worked
// just then.
std::vector<double> by_calendar(const Observed& observed, const std::vector<Onset>& onsets, double period,
                                double warmed) {
  constexpr double kDay = 86400, kYear1971 = 366 * kDay, kZone = 900;
  constexpr int kZones = 14 * 4;  // either way
  std::vector<double> all;
  double first = kUntold;
  for (const Request& r : observed.requests) first = std::min(first, r.arrival);
  if (first == kUntold || first < kYear1971 || onsets.front().at < kYear1971) return all;
  for (int i = -kZones; i <= kZones; ++i) {
    const double zone = i * kZone;
    // A log without years is in 1972: by how much the client's year is later.
    const double other = onsets.front().at;
    const double shift = std::abs(other - first) > 2 * kDay ? in_year_of(other, first + zone) - other : 0;
    const double at = first + zone - shift;
    // With these requests, or with the warm-up before them.
    const auto began_then = [&](const Onset& onset) {
      const double latest = onset.at + onset.within + std::min(period, 2.0);
      return (onset.at - 1 <= at && at <= latest) || (onset.at - 1 <= at - warmed && at - warmed <= latest);
    };
    if (std::ranges::any_of(onsets, began_then)) all.push_back(at);
  }
  return all;
}

}  // namespace

double in_year_of(double moment, double other) {
  using namespace std::chrono;
  const auto day_of = [](double at) { return floor<days>(sys_seconds(seconds(static_cast<std::int64_t>(at)))); };
  const year_month_day told(day_of(moment)), beside(day_of(other));
  const sys_days day = beside.year() / told.month() / told.day();
  return moment + static_cast<double>(seconds(day - day_of(moment)).count());
}

std::optional<LogStart> log_start(const Observed& observed) {
  const std::vector<Onset> onsets = onsets_of(observed);
  if (onsets.empty()) return std::nullopt;
  // Of several quantities that show the same beginning the first knows it best.
  const double began = onsets.front().at;
  double first = kUntold;
  for (const Request& r : observed.requests) first = std::min(first, r.arrival);
  // A warm-up that the client tells of came before.
  const double warmed = observed.first_call && first < kUntold ? std::max(0.0, first - *observed.first_call) : 0;
  LogStart start{began + warmed, warmed, onsets.front().within};

  std::vector<Covered> engines;
  double period = 0;
  std::optional<double> quiet = observed.quiet_after;
  if (!quiet && observed.log_period) quiet = kSilent * *observed.log_period;
  if (const auto told_rates = observed.courses.find(quantity::kOutputRate); told_rates != observed.courses.end())
    for (const auto& [engine, course] : told_rates->second) {
      if (course.samples().empty()) continue;
      engines.emplace_back(course.samples(), observed.log_period.value_or(1), quiet);
      period = std::max(period, engines.back().spacing());
    }
  const std::vector<double> calendar = by_calendar(observed, onsets, std::max(1.0, period), warmed);
  const ToldTokens told(observed, std::max(1.0, period));
  const bool fits = told.known() && !engines.empty();
  double theirs = 0;  // squares of rates, over time
  const std::vector<Course::Sample> rates = observed.total(quantity::kOutputRate);
  for (std::size_t i = 0; i < rates.size(); ++i)
    theirs += rates[i].value * rates[i].value *
              (i == 0 ? period : std::min(rates[i].at - rates[i - 1].at, std::max(period, quiet.value_or(0))));
  double least = fits ? told.misfit(engines, start.at, theirs) : kUntold;
  const auto take = [&](double at, double within, double better) {
    const double misfit = fits ? told.misfit(engines, at, theirs) : kUntold;
    if (fits ? misfit > better * least : std::abs(at - began) > std::abs(start.at - began)) return;
    least = misfit;
    start = {at, at - began, within};
  };
  if (!calendar.empty()) {
    const auto nearest = std::ranges::min_element(calendar, {}, [&](double at) { return std::abs(at - began); });
    start = {*nearest, *nearest - began, 1};
    least = fits ? told.misfit(engines, start.at, theirs) : kUntold;
    for (const double at : calendar) take(at, 1, 1);
  }
  // Clearly better alone: a rate of ten seconds says little of single calls.
  constexpr double kClearly = 0.5;
  if (fits)
    for (const Onset& onset : onsets) take(onset.at, onset.within, kClearly);
  return start;
}

}  // namespace llmscape::observe
