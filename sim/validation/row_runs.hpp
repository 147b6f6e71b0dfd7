// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/result/metric_table.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/validation/comparison.hpp"
#include "sim/validation/measured_rows.hpp"

namespace llmscape::validation {

// What a row was predicted to give.
struct RowPoint {
  const MeasuredRow* row = nullptr;
  std::vector<std::optional<double>> predicted;  // one for each metric of the table
  std::string refused;                           // why there is no prediction; empty: there is one
};

// Simulates the rows that are not left out, in child processes, `jobs` at once, with `overrides` ("a.b=c") laid
// over their scenarios. In the order of the rows, whichever ends first. `catalogs` remember what they read.
std::vector<RowPoint> simulate_rows(const MeasuredTable& table, const std::vector<const MeasuredRow*>& rows,
                                    const std::vector<std::string>& overrides, const scenario::Catalogs& catalogs,
                                    int jobs);
std::vector<const MeasuredRow*> rows_to_predict(const MeasuredTable& table);

// Where a row's metrics lie if its devices' kernels err as they did where they were measured (sim/run/intervals.hpp):
// low and high, one pair for each metric of the table; nothing where a run has no value.
struct RowIntervals {
  using Ends = std::optional<std::pair<metrics::End, metrics::End>>;
  const MeasuredRow* row = nullptr;
  std::vector<Ends> metrics;
};
std::vector<RowIntervals> row_intervals(const MeasuredTable& table, const std::vector<const MeasuredRow*>& rows,
                                        const std::vector<std::string>& overrides, const scenario::Catalogs& catalogs,
                                        int jobs);
// The share of the intervals of a metric, by its number, that hold what was measured; nothing without any.
std::optional<double> share_inside(const std::vector<RowIntervals>& intervals, std::size_t metric);

// One comparison for each metric that was measured and predicted, in the order of the table's metrics, without
// statistics of sets: a mean over unlike rows says nothing.
std::vector<Comparison> compare_points(const MeasuredTable& table, const std::vector<const RowPoint*>& points);

// The points by what their rows have in the columns: "vllm, h200". Rows without a value have "-" there.
struct RowGroup {
  std::string name;
  std::vector<const RowPoint*> points;
};
std::vector<RowGroup> group_points(const std::vector<RowPoint>& points, const std::vector<std::string>& columns);

}  // namespace llmscape::validation
