// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "traces/request_trace.hpp"

namespace llmscape::workloads {

// A recorded call, as far as a law is fitted to it.
struct RecordedCall {
  double arrival = 0;  // seconds from the recording's start
  std::int64_t prompt_tokens = 0, output_tokens = 0;
  Prompt prompt;  // empty where the trace says nothing of its content
  std::string session;
  double spread = 0;  // seconds that `arrival` lies behind what the trace's rounded clock says
};

// A trace in memory, by arrival.
struct Recording {
  std::string format;
  double duration = 0;  // seconds; no call is later
  double tick = 0;      // seconds: what the trace's clock rounds to; 0: less than 0.1 s
  std::vector<RecordedCall> calls;
};

// Reads the trace to its end. Where 1 % of the calls or more come at once, all times are multiples of 0.1 s or more,
// and the calls of a tick, and the ticks without one, are as uneven as chance makes them, the clock was rounded: calls
// are then spread at random over the time until its next tick, always in the same way, since the trace does not say
// when within it they came. Batches, of a size and at distances of their own, stay what they are.
Recording record(traces::TraceReader& trace, Diagnostics& diagnostics);

// The calls of the first half of the time, and those of the second, which counts from its own start.
std::pair<Recording, Recording> halves(const Recording& recording);

// What a cache without end, empty at the start, finds of each call's prompt.
struct Reuse {
  std::int64_t tokens = 0;  // at the head of the prompt
  double age = 0;           // seconds since a prompt that begins with these tokens came last
};
std::vector<Reuse> reuse_of(const Recording& recording);

}  // namespace llmscape::workloads
