// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/fit/recording.hpp"
#include "workloads/workload.hpp"

namespace llmscape::workloads {

// A workload whose calls are like those of the recording, without an end: arrivals by fit_arrivals, lengths and reuse
// by fit_lengths. `name` of the recording goes into its source. Reports, and returns nothing, where there are no two
// calls at different times.
std::optional<WorkloadConfig> fit_workload(const Recording& recording, const std::string& name,
                                           Diagnostics& diagnostics);

// What the workload (with a stream or a mixture of single calls, arrivals that are open) sends within `duration`
// seconds.
Recording emitted(const WorkloadConfig& workload, double duration, std::uint64_t seed);

// The workload as a file of the catalogue, schema workload/1, numbers by four digits.
std::string workload_file(const WorkloadConfig& workload);

}  // namespace llmscape::workloads
