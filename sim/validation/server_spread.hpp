// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "sim/result/metric_table.hpp"
#include "sim/validation/row_runs.hpp"

namespace llmscape::validation {

// What servers did beside what the errors of kernels explain. Of each row it counts how far the measured value lies
// beyond either end of its interval, above what devices draw at rest in it (metrics::End::idle); the factors are these
// distances at kServerQuantile (split conformal prediction: Romano, Patterson and Candes 2019). Rows of one deployment
// err alike, so that it takes a quantile above 0.95 for nine of ten rows of a deployment that was not among them.
inline constexpr double kServerQuantile = 0.96;

// Of a metric of the table, by its number, from the rows that have it; factors of 1 without any.
metrics::ServerSpread server_spread(const std::vector<RowIntervals>& rows, std::size_t metric);

// The share of rows that an interval holds which is widened by what the rows of all other deployments give. Rows are of
// one deployment where they are equal in all of `columns`. 0 without rows.
double held_out_share(const std::vector<RowIntervals>& rows, std::size_t metric,
                      const std::vector<std::string>& columns);

}  // namespace llmscape::validation
