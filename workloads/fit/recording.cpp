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

// Whether calls that fall into ticks by chance would fill them so: `sizes` are the calls of each tick that has some, of
// `ticks` in all. Of a Poisson law those with a call hold m = l / (1 - e^-l) calls in the mean, with a variance of
// m (1 + l - m), and e^-l of all are empty. Traffic in bursts has more of both; batches of a timer have less.
bool as_by_chance(const std::vector<double>& sizes, double ticks) {
  constexpr std::size_t kFewest = 10;  // ticks: fewer tell nothing
  if (sizes.size() < kFewest) return false;
  const auto count = static_cast<double>(sizes.size());
  double sum = 0, squares = 0;
  for (const double size : sizes) {
    sum += size;
    squares += size * size;
  }
  const double mean = sum / count, variance = squares / count - mean * mean;
  double rate = mean;
  for (int i = 0; i < 100; ++i) rate = mean * (1 - std::exp(-rate));
  const double empty = ticks * std::exp(-rate), least_empty = empty / 2 - 2 * std::sqrt(empty);
  return variance > mean * (1 + rate - mean) / 2 && ticks - count >= least_empty;
}

// Of a rounded clock, its tick: the least time between two arrivals that are not at once, where 1 % of the calls or
// more are at once, all times since the clock's zero are whole ticks, but for rounding of their own (Mooncake's 3 s are
// 2.999 s at times), and ticks are filled by chance.
std::optional<double> tick_of(const std::vector<RecordedCall>& calls, double start) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < calls.size(); ++i) gaps.push_back(calls[i].arrival - calls[i - 1].arrival);
  double least = 0;
  for (const double gap : gaps)
    if (gap > 0 && (least == 0 || gap < least)) least = gap;
  if (least < kLeastTick * (1 - 1e-6)) return std::nullopt;  // 0.3 - 0.2 is a little less than 0.1
  double ticks = 0;
  std::vector<double> sizes = {1};
  for (const double gap : gaps) {
    const double passed = std::round(gap / least);
    if (std::abs(gap / least - passed) >= kOffTick) return std::nullopt;
    ticks += passed;
    if (passed > 0) sizes.push_back(0);
    ++sizes.back();
  }
  if (100 * (calls.size() - sizes.size()) < calls.size()) return std::nullopt;
  const double tick = std::round(1e3 * calls.back().arrival / ticks) / 1e3;
  const bool whole = std::abs(start / tick - std::round(start / tick)) < kOffTick;
  return whole && as_by_chance(sizes, ticks + 1) ? std::optional(tick) : std::nullopt;
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
    for (const double arrival : within) {
      recording.calls[at].arrival = arrival;
      recording.calls[at++].spread = arrival - time;
    }
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
  if (const auto tick = tick_of(out.calls, trace.start().value_or(Seconds()).si())) {
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
