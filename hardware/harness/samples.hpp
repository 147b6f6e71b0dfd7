// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "traces/microbench_record.hpp"

#include <vector>

namespace llmscape::hardware::harness {

class PreparedCase;

// Quantiles by nearest rank; `samples` must not be empty.
traces::SampleSummary summarise_samples(std::vector<double> samples);

// Warms up with at least 3 runs and 50 ms, then takes 20 samples and goes on for 30 ms at least; a slow kernel stops at
// 60 ms with no fewer than 5.
std::vector<double> timed_samples(PreparedCase& prepared);

// The quartiles are more than 5 % of the median apart.
bool is_noisy(const traces::SampleSummary& summary);

}  // namespace llmscape::hardware::harness
