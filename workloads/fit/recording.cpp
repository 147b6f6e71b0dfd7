// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/recording.hpp"

#include <algorithm>

#include "base/random.hpp"
#include "traces/prefix_reuse.hpp"

namespace llmscape::workloads {
namespace {

constexpr double kLeastTick = 0.1;  // seconds; a finer clock does not show in counts of a second

// The least time between two arrivals that are not at once: of a clock that is rounded, its tick.
double tick_of(const std::vector<RecordedCall>& calls) {
  double tick = 0;
  for (std::size_t i = 1; i < calls.size(); ++i)
    if (const double gap = calls[i].arrival - calls[i - 1].arrival; gap > 0 && (tick == 0 || gap < tick)) tick = gap;
  return tick;
}

// Calls of different users that come at once, many times over, are a clock's doing.
bool is_shared(const std::vector<RecordedCall>& calls) {
  std::size_t at_once = 0;
  for (std::size_t i = 1; i < calls.size(); ++i) at_once += calls[i].arrival == calls[i - 1].arrival;
  return 100 * at_once >= calls.size();
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
  const double tick = tick_of(out.calls);
  if (tick >= kLeastTick && is_shared(out.calls)) {
    out.tick = tick;
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
