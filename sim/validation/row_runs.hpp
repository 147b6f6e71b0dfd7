// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

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

// Simulates the rows that are not left out, each in a child process, `jobs` at once, with `overrides` ("a.b=c") laid
// over their scenarios. In the order of the rows, whichever ends first.
std::vector<RowPoint> simulate_rows(const MeasuredTable& table, const std::vector<const MeasuredRow*>& rows,
                                    const std::vector<std::string>& overrides, const scenario::Catalogs& catalogs,
                                    int jobs);
std::vector<const MeasuredRow*> rows_to_predict(const MeasuredTable& table);

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
