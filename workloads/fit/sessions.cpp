// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/sessions.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

#include "workloads/fit/fit_lengths.hpp"

namespace llmscape::workloads {
namespace {

// How many of the times a load that rises or falls steadily would put below `within`, and the error of that: as many
// as between once and twice that, times the ratio of these to those between twice and three times where it is above 1.
// A line stays below this, an exponential law meets it.
struct Steady {
  double expected = 0, error = 0;
};
std::optional<Steady> steady_before(const std::vector<double>& times, double within) {
  double next = 0, after = 0;
  for (const double time : times) {
    next += time >= within && time < 2 * within ? 1 : 0;
    after += time >= 2 * within && time < 3 * within ? 1 : 0;
  }
  if (next <= after) return Steady{next, std::sqrt(2 * next)};
  if (after == 0) return std::nullopt;
  const double expected = next * next / after;
  return Steady{expected, std::sqrt(expected + expected * expected * (4 / next + 1 / after))};
}

// Whether more of the times lie below `within` than the others' rate would put there, and than a steady rise or fall of
// it does, each by three standard errors; the first of all, which counts from itself, aside.
bool is_crowded(const std::vector<double>& times, double within) {
  double near = 0, furthest = 0;
  for (const double time : times) {
    near += time < within ? 1 : 0;
    furthest = std::max(furthest, time);
  }
  const double others = static_cast<double>(times.size()) - near;
  if (others < std::max(2.0, 0.1 * static_cast<double>(times.size()))) return false;
  const double expected = others * within / (furthest - within);
  const auto steady = steady_before(times, within);
  return near > 1 + expected + 3 * std::sqrt(expected) && steady && near > 1 + steady->expected + 3 * steady->error;
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
  out.begins_cut = is_crowded(begins, out.within);
  out.ends_cut = is_crowded(ends, out.within);
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
