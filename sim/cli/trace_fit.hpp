// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/diagnostics.hpp"
#include "traces/request_trace.hpp"
#include "workloads/fit/fit.hpp"

namespace llmscape::cli {

struct TraceFitArguments {
  std::string trace;   // as it was named
  std::string output;  // the workload's file; "-" is stdout; empty: none
  std::string page;    // a page of the fit beside the trace; empty: none
  workloads::FitStream stream = workloads::FitStream::calls;
  bool score = false;  // fit the first half as well, and hold it against the second
};

// Reads the trace to its end, fits a workload, writes it, and prints how it compares, unless the workload goes to
// stdout. Nothing is written after a mistake.
void fit_trace(traces::TraceReader& reader, const TraceFitArguments& arguments, Diagnostics& diagnostics);

}  // namespace llmscape::cli
