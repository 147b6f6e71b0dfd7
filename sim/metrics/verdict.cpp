// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/statistics.hpp"

namespace llmscape::metrics {

namespace {

// Fewer answers than this leave the 99th percentile to one or two requests.
constexpr std::int64_t kFewestCompletions = 200;
// Widest 95 % interval of p99 TTFT, relative to it, that is called steady.
constexpr double kWidestInterval = 0.30;
// A run this many times as long is not worth a number.
constexpr double kMuchLonger = 10;
// The backlog grows when a line through it rises by this share of its mean over the arrivals, and by this many calls
// ...
constexpr double kGrowth = 0.6;
constexpr double kGrowthCalls = 10;
// ... and the last quarter stands this much above the second: a wave that has passed is no growth.
constexpr double kLastQuarter = 1.5;

double mean_between(const std::vector<Backlog::Point>& points, double from, double to) {
  double sum = 0;
  int n = 0;
  for (const auto& p : points) {
    if (p.at < from || p.at >= to) continue;
    sum += p.open;
    ++n;
  }
  return n > 0 ? sum / n : 0;
}

std::optional<std::string> growth(const VerdictInput& input) {
  const double from = input.warmup.si();
  const double to = input.last_arrival.si();
  std::vector<double> x;
  std::vector<double> y;
  for (const auto& p : input.backlog->points()) {
    if (p.at < from) continue;
    x.push_back(p.at);
    y.push_back(p.open);
  }
  if (x.size() < 8 || to <= from) return std::nullopt;
  const double mean = std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
  const double rise = slope(x, y).slope * (to - from);
  const double quarter = (to - from) / 4;
  const double second = mean_between(input.backlog->points(), from + quarter, from + 2 * quarter);
  const double last = mean_between(input.backlog->points(), to - quarter, to + 1);
  if (rise < kGrowth * mean || rise < kGrowthCalls || last < kLastQuarter * second) return std::nullopt;
  return fmt::format(
      "unanswered calls grew by {:.0f} while requests arrived (mean {:.0f}): the load is above what the system "
      "serves; lower the rate or add devices",
      rise, mean);
}

}  // namespace

std::string_view name_of(Verdict::State state) {
  static constexpr std::array<std::string_view, 4> kNames = {"valid", "unsteady", "saturated", "truncated"};
  return kNames[static_cast<std::size_t>(state)];
}

void Backlog::add(Seconds at, std::int64_t open) {
  if (seen_++ % every_ != 0) return;
  points_.push_back({at.si(), static_cast<double>(open)});
  if (points_.size() < 2 * kMost) return;
  for (std::size_t i = 0; i < kMost; ++i) points_[i] = points_[2 * i];
  points_.resize(kMost);
  every_ *= 2;
}

Verdict judge(const VerdictInput& input) {
  Verdict verdict;
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
  if (auto reason = growth(input)) {
    verdict.state = Verdict::State::saturated;
    verdict.reasons.push_back(*reason);
    return verdict;
  }
  if (input.completed < kFewestCompletions) {
    verdict.state = Verdict::State::unsteady;
    verdict.reasons.push_back(fmt::format("{} completed requests are too few for a 99th percentile; run at least {}",
                                          input.completed, kFewestCompletions));
    return verdict;
  }
  const std::vector<double>& batches = *input.ttft_batch_p99;
  const double mean = std::accumulate(batches.begin(), batches.end(), 0.0) /
                      static_cast<double>(std::max<std::size_t>(1, batches.size()));
  const auto half_width = confidence_half_width(batches);
  if (half_width && mean > 0 && *half_width / mean > kWidestInterval) {
    const double times = std::pow(*half_width / mean / kWidestInterval, 2);
    verdict.state = Verdict::State::unsteady;
    verdict.reasons.push_back(
        fmt::format("the 95 % interval of p99 TTFT is +-{:.0f} %; {}", 100 * *half_width / mean,
                    times > kMuchLonger ? "a much longer run is needed"
                                        : fmt::format("a run about {:.1f} times as long would bring it to {:.0f} %",
                                                      times, 100 * kWidestInterval)));
  }
  return verdict;
}

}  // namespace llmscape::metrics
