// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "traces/kernel_record.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llmscape::traces {

// The times of one case over its samples, in seconds.
struct SampleSummary {
  std::int64_t samples = 0;
  double min = 0, p10 = 0, median = 0, p90 = 0, iqr = 0;
};

// One case as the harness timed it.
struct MicrobenchRow {
  KernelCase what;
  SampleSummary time;
  double flops = 0, bytes = 0;      // of one launch, by formula
  double error = 0;                 // largest relative error against the reference
  std::optional<double> clock_mhz;  // of the multiprocessors, after the samples
  std::optional<double> power_w;
  std::vector<std::string> flags;  // "noisy" (IQR / median above 5 %), "throttled", ...
};

// A sentinel is timed at the start, in the middle and at the end: drift of the machine shows in it.
struct Sentinel {
  KernelCase what;
  std::vector<double> medians_s;
};

// Mean power over a steady loop of one kernel, or at rest.
struct PowerRow {
  std::optional<KernelCase> what;   // nothing: at rest
  double power_w = 0, limit_w = 0;  // mean; what the board was held to
  std::optional<double> time_s;     // of one launch in the loop; nothing at rest
  std::optional<double> clock_mhz;  // of the multiprocessors, at the end
};

// A run of `llmscape bench`: JSON in google-benchmark's shape ({"context": {...}, "benchmarks": [...]}) with fields of
// our own; "schema": "llmscape.microbench/1".
struct MicrobenchRecord {
  std::map<std::string, std::string> context;  // tool, git, date, device, driver, clocks, host, argv, seed, flush, ...
  std::string backend;                         // "cpu" or "cuda"
  std::string statistic = "median";            // what stands for a case in `kernel_tables`
  std::vector<MicrobenchRow> rows;
  std::vector<Sentinel> sentinels;
  std::vector<PowerRow> power;
};

std::optional<MicrobenchRecord> read_microbench_record(const std::string& path, Diagnostics& diagnostics);
void write_microbench_record(const MicrobenchRecord& record, const std::string& path);
// All rows as they stand, and with the mean time of a case that stands several times.
KernelTables timed_cases(const MicrobenchRecord& record);
KernelTables kernel_tables(const MicrobenchRecord& record);

}  // namespace llmscape::traces
