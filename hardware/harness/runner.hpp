// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/backend.hpp"
#include "traces/microbench_record.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llmscape::hardware::harness {

struct RunOptions {
  std::uint64_t seed = 1;         // of the order and of the data
  std::optional<Seconds> budget;  // wall time after which no further case begins
  // Called before each case with its number and name; may throw to stop the run.
  std::function<void(std::size_t done, std::size_t all, const std::string& name)> progress;
};

// A kernel whose result differed from the reference: it was not timed.
struct FailedCheck {
  traces::KernelCase what;
  double error = 0, tolerance = 0;
};

struct RunOutcome {
  // Rows in the order of `cases`; `context` holds what the backend tells and the run's seed.
  traces::MicrobenchRecord record;
  std::vector<FailedCheck> failed;
  std::vector<traces::KernelCase> unsupported, out_of_time;
};

// Checks and times the cases in random order, and the sentinels before, half-way and after.
RunOutcome run_cases(Backend& backend, const std::vector<traces::KernelCase>& cases,
                     const std::vector<traces::KernelCase>& sentinels, const RunOptions& options);

}  // namespace llmscape::hardware::harness
