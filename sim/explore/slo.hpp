// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/expression.hpp"
#include "sim/explore/results.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::explore {

// One comparison of an SLO: how far a run is from it can be measured.
struct Limit {
  std::string text;  // "ttft.p99 <= 200 ms"
  Expression left, right;
  bool at_most = true;  // the left side must not be above the right one; else not below
  bool strict = false;  // nor equal to it
};

// A limit of one metric by a number, which is where a slider stands and a frontier is read off; names and numbers also
// as they were typed.
struct MetricLimit {
  const metrics::Column* column;
  double bound;
  std::string name, number;
};
// Nothing where the limit compares something else.
std::optional<MetricLimit> metric_limit(const Limit& limit);

// Both sides of a limit for one run.
struct LimitSides {
  double left = 0, right = 0;
};

// How far a limit is kept; below 0: how far it is missed. In the unit of its sides.
double margin(const Limit& limit, const LimitSides& sides);
// Whether the limit is kept at this margin from its right side, to rounding (base/rounding.hpp).
bool keeps(const Limit& limit, double margin, double right);

// Reads "ttft.p99 <= 200 ms, tpot.p99 <= 50 ms"; "200 ms >= ttft.p99" is turned round. `source` is what messages call
// the text: "--slo". Reports what is no comparison, names that the table does not have and sides in different units;
// then it is empty.
std::vector<Limit> read_slo(std::string_view text, const std::string& source, const ResultsTable& table,
                            Diagnostics& diagnostics);

// Nothing where one side has no value: the run lacks a metric.
std::optional<LimitSides> sides_of(const Limit& limit, const ResultsTable& table, const Configuration& configuration);

// Latencies are of completed calls: where more of all calls than this were dropped, timed out or failed, what the
// others saw says nothing of the load.
inline constexpr double kMostLost = 0.01;
// Whether one of them says itself how many calls may be lost (lost_share, slo_attainment, goodput_rps).
bool speaks_of_losses(const std::vector<Limit>& limits);
// The share that was lost where it is above that and no limit speaks of it (lost_share, slo_attainment, goodput_rps).
std::optional<double> lost_unasked(const std::vector<Limit>& limits, const ResultsTable& table,
                                   const Configuration& configuration);

}  // namespace llmscape::explore
