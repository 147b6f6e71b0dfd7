// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "workloads/fit/recording.hpp"
#include "workloads/workload.hpp"

namespace llmscape::workloads {

// What a program of a fit is.
enum class FitStream {
  calls,     // single calls, as in a replay: stream joint_lengths
  sessions,  // those of the trace, each call after the one before: stream agents
  passages,  // questions with passages that move from prompt to prompt: stream rag
};

// A workload that is like the recording, without an end: arrivals by fit_arrivals, of calls with lengths and reuse by
// fit_lengths, of sessions by fit_sessions, or of questions by fit_passages. `name` of the recording goes into its
// source. Reports, and returns nothing, where there are no two calls at different times, or no sessions or passages.
std::optional<WorkloadConfig> fit_workload(const Recording& recording, const std::string& name,
                                           Diagnostics& diagnostics, FitStream stream = FitStream::calls);

// When programs start, in seconds beside a recording's time.
struct Starting {
  double before = 0;                                       // seconds that it goes on already
  double until = std::numeric_limits<double>::infinity();  // where that is not its end
};

// What a workload with open arrivals sends within `duration` seconds, where answers take no time.
Recording emitted(const WorkloadConfig& workload, double duration, std::uint64_t seed, const Starting& starting = {});

// Seconds that the longest of 300 programs takes, where answers take no time.
double longest_program(const WorkloadConfig& workload);

// The workload as a file of the catalogue, schema workload/1, numbers by four digits.
std::string workload_file(const WorkloadConfig& workload);

}  // namespace llmscape::workloads
