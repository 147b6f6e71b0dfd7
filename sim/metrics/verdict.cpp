// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "base/statistics.hpp"

namespace llmscape::metrics {

namespace {

// A run this many times as long is not worth a number.
constexpr double kMuchLonger = 10;
// The load is above what the system serves when, at the end of the arrivals, calls wait for their first tokens longer
// than at the calmest time of the run, by so much that this share of all calls, and so many, came meanwhile ...
constexpr double kGrowth = 0.01;
constexpr double kGrowthCalls = 10;
// ... and fewer tasks ended than were offered since the wait was last below a quarter of that, by this share, or by
// one standard error of counting them (Poisson) where that is more. A queue that comes and goes is served at more than
// the offered rate.
constexpr double kQuarter = 0.25;
constexpr double kShortfall = 0.03;
// Long runs tell smaller shares: none has to be more than so many standard errors of counting.
constexpr double kErrors = 3;
// Bins of equal numbers of calls in which waits are averaged, the fewest calls in one, and those that are the end.
constexpr std::size_t kBins = 20;
constexpr std::size_t kFewestOfBin = 2;
constexpr std::size_t kLastBins = 2;
// Open tasks still rise when between the middle and the end of the arrivals they do so by this share of the tasks that
// start meanwhile, and of what they were.
constexpr double kFilling = 0.05;
constexpr double kFillingOf = 0.25;

// The share that has to be seen of `counted` calls or tasks, which is never below one standard error of counting them.
double seen(double share, double counted) {
  const double error = 1 / std::sqrt(counted);
  return std::clamp(kErrors * error, error, std::max(error, share));
}

struct Waits {
  std::vector<double> mean, from;  // of each bin
};

Waits bins_of(const std::vector<WaitSeries::Point>& points) {
  Waits bins;
  for (std::size_t k = 0; k < kBins; ++k) {
    const std::size_t from = k * points.size() / kBins, to = (k + 1) * points.size() / kBins;
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += points[i].ttft;
    bins.mean.push_back(sum / static_cast<double>(to - from));
    bins.from.push_back(points[from].arrival);
  }
  return bins;
}

std::optional<std::string> overload(const VerdictInput& input) {
  const std::vector<WaitSeries::Point> points = input.waits->points();
  const auto& backlog = input.backlog->points();
  if (points.size() < kFewestOfBin * kBins || backlog.size() < 2) return std::nullopt;
  const double span = points.back().arrival - points.front().arrival;
  if (span <= 0) return std::nullopt;
  const Waits bins = bins_of(points);
  const double calm = *std::min_element(bins.mean.begin(), bins.mean.end());
  const double last = std::accumulate(bins.mean.end() - kLastBins, bins.mean.end(), 0.0) / kLastBins;
  const auto calls = static_cast<double>(input.waits->count());
  const double grown = (last - calm) * calls / span;
  if (grown < kGrowthCalls || grown < std::min(kGrowth, kErrors / std::sqrt(calls)) * calls) return std::nullopt;

  std::size_t since = kBins - 1;
  while (since > 0 && bins.mean[since - 1] > calm + kQuarter * (last - calm)) --since;
  const Backlog::Point& end = backlog.back();
  const auto begin =
      std::ranges::find_if(backlog, [&](const Backlog::Point& point) { return point.at >= bins.from[since]; });
  if (begin == backlog.end() || begin->at >= end.at) return std::nullopt;
  const double tasks = end.started - begin->started, time = end.at - begin->at;
  const double offered = input.offered ? input.offered->si() : tasks / time;
  const double ended = (end.ended() - begin->ended()) / time, lost = (end.lost - begin->lost) / time;
  if (1 - ended / offered < seen(kShortfall, tasks)) return std::nullopt;
  return fmt::format(
      "{:.3g} tasks/s were offered and {:.3g} served{} since calls began to wait: TTFT grew from {:.3g} to {:.3g} s "
      "while "
      "tasks came; lower the rate or add devices",
      offered, ended - lost, lost > 0 ? fmt::format(" ({:.3g} lost)", lost) : "", calm, last);
}

// Mean of the open tasks over a tenth of the starts that ends at `share` of them.
double open_at(const std::vector<Backlog::Point>& points, double share) {
  const auto end = static_cast<std::size_t>(share * static_cast<double>(points.size()));
  const std::size_t tenth = std::max<std::size_t>(1, points.size() / 10);
  double sum = 0;
  for (std::size_t i = end - tenth; i < end; ++i) sum += points[i].open;
  return sum / static_cast<double>(tenth);
}

std::optional<std::string> filling(const VerdictInput& input) {
  const auto& backlog = input.backlog->points();
  if (backlog.size() < kBins) return std::nullopt;
  const double middle = open_at(backlog, 0.55), end = open_at(backlog, 1);
  const double tasks = backlog.back().started * 0.45;
  if (end - middle < kGrowthCalls || end - middle < kFillingOf * middle || end - middle < seen(kFilling, tasks) * tasks)
    return std::nullopt;
  return fmt::format(
      "open tasks still rose from {:.0f} to {:.0f} over the second half of the starts: run longer to see whether they "
      "stop",
      middle, end);
}

}  // namespace

std::string_view name_of(Verdict::State state) {
  static constexpr std::array<std::string_view, 5> kNames = {"valid", "noisy", "unsteady", "saturated", "truncated"};
  return kNames[static_cast<std::size_t>(state)];
}

void Backlog::add(Seconds at, std::int64_t open, std::int64_t lost) {
  if (seen_++ % every_ != 0) return;
  points_.push_back({at.si(), static_cast<double>(seen_), static_cast<double>(open), static_cast<double>(lost)});
  if (points_.size() < 2 * kMost) return;
  for (std::size_t i = 0; i < kMost; ++i) points_[i] = points_[2 * i];
  points_.resize(kMost);
  every_ *= 2;
}

void WaitSeries::add(Seconds arrival, double ttft) {
  if (seen_++ % every_ != 0) return;
  points_.push_back({arrival.si(), ttft});
  if (points_.size() < 2 * kMost) return;
  for (std::size_t i = 0; i < kMost; ++i) points_[i] = points_[2 * i];
  points_.resize(kMost);
  every_ *= 2;
}

std::vector<WaitSeries::Point> WaitSeries::points() const {
  std::vector<Point> points = points_;
  std::ranges::stable_sort(points, std::less(), &Point::arrival);
  return points;
}

Verdict judge(const VerdictInput& input) {
  Verdict verdict;
  if (input.clock_ended) {
    verdict.state = Verdict::State::truncated;
    verdict.reasons.push_back(fmt::format("the clock ended, after 136 years, calls unanswered: {}", input.unfinished));
    return verdict;
  }
  if (input.stands_still) {
    verdict.state = Verdict::State::truncated;
    verdict.reasons.push_back(
        "time stood still: calls of closed-loop users were refused at once and asked again at once; give 'think'");
    return verdict;
  }
  if (input.completed == 0) {
    verdict.state = Verdict::State::truncated;
    verdict.reasons.push_back("no request was completed in the measured window");
    return verdict;
  }
  if (input.stopped_at_horizon && input.unfinished > 0) {
    verdict.state = Verdict::State::truncated;
    verdict.reasons.push_back(
        fmt::format("stopped at the horizon with {} calls unanswered; raise 'horizon'", input.unfinished));
    return verdict;
  }
  const auto is = [&verdict](Verdict::State state, std::string reason) {
    verdict.state = state;
    verdict.reasons.push_back(std::move(reason));
    return verdict;
  };
  if (input.load == Load::open) {
    if (auto reason = overload(input)) {
      verdict.state = Verdict::State::saturated;
      verdict.reasons.push_back(*reason);
      return verdict;
    }
  }
  if (input.completed < kFewestCompletions)
    return is(Verdict::State::noisy,
              fmt::format("{} completed requests are too few for a 99th percentile; run at least {}", input.completed,
                          kFewestCompletions));
  if (input.load == Load::burst) return verdict;
  if (!input.steady)
    return is(Verdict::State::unsteady,
              "the load fell before the system was steady: figures are of the whole run; run more requests");
  if (input.load == Load::open) {
    if (auto reason = filling(input)) return is(Verdict::State::unsteady, *reason);
  }
  const std::vector<double>& batches = *input.ttft_batch_p99;
  const double mean = std::accumulate(batches.begin(), batches.end(), 0.0) /
                      static_cast<double>(std::max<std::size_t>(1, batches.size()));
  const auto half_width = confidence_half_width(batches);
  if (!half_width || mean <= 0 || *half_width / mean <= kWidestInterval) return verdict;
  const double times = std::pow(*half_width / mean / kWidestInterval, 2);
  return is(Verdict::State::noisy,
            fmt::format("the 95 % interval of p99 TTFT is +-{:.0f} %; {}", 100 * *half_width / mean,
                        times > kMuchLonger ? "a much longer run is needed"
                                            : fmt::format("a run about {:.1f} times as long would bring it to {:.0f} %",
                                                          times, 100 * kWidestInterval)));
}

}  // namespace llmscape::metrics
