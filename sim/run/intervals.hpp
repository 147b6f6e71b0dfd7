// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/engine/time_factors.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/result/result.hpp"
#include "sim/scenario/scenario.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace llmscape::run {

// Where in their spreads kernel times are in the run of that number, from 0 to kIntervalRuns - 1: for each group of the
// scenario's devices. Devices of one name err alike, wherever they stand.
std::vector<engine::TimeRanks> interval_ranks(const scenario::Scenario& scenario, std::size_t run);

// What a run says of a metric whose servers' spread is that; nothing: it is not known.
metrics::End end_of(double value, const metrics::ServerSpread* spread, const result::RunResult& result);
// From the least to the greatest of the values of all these runs; nothing where some have none.
std::optional<std::pair<metrics::End, metrics::End>> interval_of(const std::vector<metrics::End>& values);

// Runs the scenario `kIntervalRuns` times more, each time with the kernel times of every device multiplied by factors
// drawn from how measurements lay about the fits of its model's kernels (one for each device, operator family and
// regime; sim/engine/time_factors.hpp). The interval of a metric goes from the least to the greatest of its values: 90
// % of what the kernels' errors could do to it. It does not cover errors of the workload or of the scheduler's model;
// where all devices are GPUs, Interval::server adds what hosts, front ends and schedulers of measured servers did. The
// same numbers for any `jobs`. `after_each` hears of each run that ended, and may throw to stop them all. Throws
// std::runtime_error when a run fails.
result::Intervals predict_intervals(const scenario::Scenario& scenario, int jobs,
                                    const std::function<void()>& after_each);

}  // namespace llmscape::run
