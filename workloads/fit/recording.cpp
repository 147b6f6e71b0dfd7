// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/recording.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/random.hpp"
#include "traces/prefix_reuse.hpp"

namespace llmscape::workloads {
namespace {

constexpr double kLeastTick = 0.1;  // seconds; a finer clock does not show in counts of a second
constexpr double kOffTick = 0.02;   // of a tick

// Of a rounded clock, its tick: the least time between two arrivals that are not at once, where 1 % of the calls or
// more are at once and all times between are whole ticks, but for rounding of their own (Mooncake's 3 s are 2.999 s at
// times).
std::optional<double> tick_of(const std::vector<RecordedCall>& calls) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < calls.size(); ++i) gaps.push_back(calls[i].arrival - calls[i - 1].arrival);
  std::size_t at_once = 0, whole = 0;
  double tick = 0;
  for (const double gap : gaps) {
    at_once += gap == 0;
    if (gap > 0 && (tick == 0 || gap < tick)) tick = gap;
  }
  for (const double gap : gaps) whole += std::abs(gap / tick - std::round(gap / tick)) < kOffTick;
  const bool rounded = tick >= kLeastTick && 100 * at_once >= calls.size() && whole == gaps.size();
  return rounded ? std::optional(tick) : std::nullopt;
}

void spread(Recording& recording) {
  RandomStream stream(1);
  // The order of the trace stays: what continues another call comes behind it.
  for (std::size_t at = 0; at < recording.calls.size();) {
    const double time = recording.calls[at].arrival;
    std::vector<double> within;
    for (std::size_t i = at; i < recording.calls.size() && recording.calls[i].arrival == time; ++i)
      within.push_back(time + recording.tick * stream.uniform());
    std::ranges::sort(within);
    for (const double arrival : within) recording.calls[at++].arrival = arrival;
  }
}

}  // namespace

Recording record(traces::TraceReader& trace, Diagnostics& diagnostics) {
  Recording out;
  while (auto read = trace.next(diagnostics)) {
    RecordedCall& call = out.calls.emplace_back();
    call.arrival = read->arrival.si();
    call.prompt_tokens = read->prompt_tokens;
    call.output_tokens = read->output_tokens;
    if (read->known_content) call.prompt = std::move(read->prompt);
    call.session = std::move(read->session);
  }
  out.format = trace.format();
  if (out.calls.empty()) return out;
  if (const auto tick = tick_of(out.calls)) {
    out.tick = *tick;
    spread(out);
  }
  out.duration = out.calls.back().arrival;
  return out;
}

std::pair<Recording, Recording> halves(const Recording& recording) {
  const double middle = recording.duration / 2;
  Recording first = recording, second = recording;
  const auto at = std::ranges::lower_bound(recording.calls, middle, {}, &RecordedCall::arrival);
  const auto count = at - recording.calls.begin();
  first.calls.resize(static_cast<std::size_t>(count));
  second.calls.erase(second.calls.begin(), second.calls.begin() + count);
  for (RecordedCall& call : second.calls) call.arrival -= middle;
  first.duration = second.duration = middle;
  return {std::move(first), std::move(second)};
}

std::vector<Reuse> reuse_of(const Recording& recording) {
  traces::PrefixTree tree;
  std::vector<Reuse> out;
  for (const RecordedCall& call : recording.calls) {
    const auto head = tree.add(call.prompt, call.arrival);
    out.push_back({head.tokens, head.tokens > 0 ? call.arrival - head.last : 0});
  }
  return out;
}

}  // namespace llmscape::workloads
