// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/quantity.hpp"
#include "traces/request_trace.hpp"

namespace llmscape::traces {

// Of token counts; quantiles interpolate linearly between the two nearest ranks, at q (n - 1) from 0.
struct LengthStatistics {
  double mean = 0, p10 = 0, p50 = 0, p90 = 0, p99 = 0;
  std::int64_t maximum = 0;
};

// Of the arrival times. Windows and minutes count from the first arrival; "whole" ones end before the last. A figure is
// absent where there are too few arrivals or windows for it. Variances are those of the population (divided by n).
struct ArrivalStatistics {
  Seconds duration;                           // first to last arrival
  std::optional<PerSecond> rate;              // requests over duration
  PerSecond peak_minute;                      // arrivals of the fullest minute / 60 s
  std::optional<double> interarrival_cv;      // standard deviation over mean of the times between arrivals
  std::optional<double> busy_cv;              // median of the same inside each minute with at least 60 arrivals ...
  std::int64_t busy_minutes = 0;              // ... of which there are so many
  std::optional<double> fano_1_s, fano_60_s;  // variance over mean of the arrivals in whole windows
  std::optional<double> empty_minutes;        // share of the whole minutes
};

// What an unlimited prefix cache would reuse of the prompts with known content, starting empty.
struct ReuseStatistics {
  std::int64_t requests = 0;           // with known content
  std::int64_t distinct_contents = 0;  // content ids, those of unique content included
  double tokens = 0;                   // share of these prompts' tokens
  double mean_prefix = 0;              // mean over requests of the share of the prompt
  double segments = 0;                 // share of all content segments, whole ones (for Mooncake: its own blocks)
  int block_tokens = 0;
  std::optional<double> blocks;  // share of all full blocks of block_tokens; absent when no prompt fills one
};

struct TraceStatistics {
  std::string format;
  std::int64_t requests = 0;
  LengthStatistics prompt, output;
  ArrivalStatistics arrivals;
  std::optional<ReuseStatistics> reuse;  // absent when no prompt has known content
};

// Reads the trace to its end in one pass; `block_tokens` is at least 1; memory grows with the distinct lengths and
// contents, not with the requests. After a broken row the figures hold for the rows before it, and `diagnostics` has
// the error.
TraceStatistics describe(TraceReader& trace, int block_tokens, Diagnostics& diagnostics);

// The figures as tables for a terminal.
std::string text_of(const TraceStatistics& statistics);

}  // namespace llmscape::traces
