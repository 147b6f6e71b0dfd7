// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/sessions.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "workloads/fit/fit_lengths.hpp"

namespace llmscape::workloads {
namespace {

// How many of the times a load whose rate changes steadily would put below `within`, and the error of that: by the
// exponential law of the rate that fits those behind best, as far as they have come by chance (Poisson), counted in
// spans as long.
struct Steady {
  double expected = 0, error = 0;
};
Steady steady_before(const std::vector<double>& times, double within, double duration) {
  constexpr double kFewest = 3, kMost = 12;  // spans: a line that is long enough to bend is no law of all of it
  const double spans = std::clamp(std::floor(duration / within) - 1, kFewest, kMost);
  std::vector<double> counts(static_cast<std::size_t>(spans));
  for (const double time : times)
    if (time >= within && time < (spans + 1) * within) ++counts[static_cast<std::size_t>(time / within) - 1];
  double sum = 0;
  for (const double count : counts) sum += count;
  // Newton's method: count i is exp(level + slope * x) with x = i - centre. Of a law without an end, as where all lie
  // in one span, as many steps as say that it is steep.
  const double centre = (spans - 1) / 2, before = -1 - centre;
  double level = std::log(std::max(sum / spans, 1e-9)), slope = 0, variance = 0;
  for (int step = 0; step < 50; ++step) {
    double level_gain = 0, slope_gain = 0, s0 = 0, s1 = 0, s2 = 0;
    double x = -centre;
    for (const double count : counts) {
      const double mean = std::exp(level + slope * x);
      level_gain += count - mean;
      slope_gain += (count - mean) * x;
      s0 += mean;
      s1 += mean * x;
      s2 += mean * x * x;
      ++x;
    }
    const double determinant = s0 * s2 - s1 * s1;
    if (determinant <= 0) break;
    variance = (s2 - 2 * s1 * before + s0 * before * before) / determinant;
    const double by_level = std::clamp((level_gain * s2 - slope_gain * s1) / determinant, -1., 1.);
    const double by_slope = std::clamp((slope_gain * s0 - level_gain * s1) / determinant, -0.5, 0.5);
    level += by_level;
    slope += by_slope;
    if (std::abs(by_level) + std::abs(by_slope) < 1e-9) break;
  }
  const double expected = std::exp(level + slope * before);
  return {expected, std::sqrt(expected + expected * expected * variance)};
}

// Whether more of the times lie below `within` than the others' rate would put there, and than a steady rise or fall of
// it does, each by three standard errors; the first of all, which counts from itself, aside.
bool is_crowded(const std::vector<double>& times, double within, double duration) {
  double near = 0, furthest = 0;
  for (const double time : times) {
    near += time < within ? 1 : 0;
    furthest = std::max(furthest, time);
  }
  const double others = static_cast<double>(times.size()) - near;
  if (others < std::max(2.0, 0.1 * static_cast<double>(times.size()))) return false;
  const double expected = others * within / (furthest - within);
  if (near <= 1 + expected + 3 * std::sqrt(expected)) return false;
  const Steady steady = steady_before(times, within, duration);
  return near > 1 + steady.expected + 3 * steady.error;
}

}  // namespace

std::vector<Session> sessions_of(const Recording& recording) {
  std::vector<Session> out;
  std::unordered_map<std::string, std::size_t> places;
  for (const RecordedCall& call : recording.calls) {
    if (call.session.empty()) continue;
    const auto [place, is_new] = places.try_emplace(call.session, out.size());
    if (is_new) out.emplace_back();
    out[place->second].push_back(&call);
  }
  return out;
}

SessionEnds ends_of(const std::vector<Session>& sessions, double duration) {
  std::vector<double> gaps, begins, ends;
  for (const Session& session : sessions) {
    begins.push_back(session.front()->arrival);
    ends.push_back(duration - session.back()->arrival);
    for (std::size_t i = 1; i < session.size(); ++i)
      if (const double gap = session[i]->arrival - session[i - 1]->arrival; gap > 0) gaps.push_back(gap);
  }
  SessionEnds out;
  if (gaps.empty()) return out;
  std::ranges::sort(gaps);
  out.within = std::min(quantile_of(gaps, 0.99), duration / 4);
  out.begins_cut = is_crowded(begins, out.within, duration);
  out.ends_cut = is_crowded(ends, out.within, duration);
  return out;
}

std::vector<double> calls_of_whole(const std::vector<SessionLine>& lines, double until) {
  std::size_t most = 0;
  for (const SessionLine& line : lines) most = std::max(most, line.calls.size());
  std::vector<double> seen(most, 0), ended(most, 0);  // of those with so many calls and one more
  for (const SessionLine& line : lines)
    for (std::size_t i = 0; i < line.calls.size() && line.calls[i] <= until; ++i) {
      const bool is_last = i + 1 == line.calls.size();
      if (is_last && line.last > until) continue;
      ++seen[i];
      ended[i] += is_last ? 1 : 0;
    }
  std::vector<double> out;
  double going_on = 1;
  const auto count = static_cast<double>(lines.size());
  for (std::size_t i = 0; i < most; ++i) {
    if (seen[i] > 0) going_on *= 1 - ended[i] / seen[i];
    const auto shorter = static_cast<std::size_t>(std::llround(count * (1 - going_on)));
    out.resize(std::max(out.size(), shorter), static_cast<double>(i + 1));
  }
  out.resize(lines.size(), static_cast<double>(most));
  return out;
}

}  // namespace llmscape::workloads
