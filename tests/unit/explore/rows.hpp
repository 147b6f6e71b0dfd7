// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sim/explore/results.hpp"
#include "sim/explore/results_csv.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::explore::test {

inline std::size_t place_of(const std::string& metric) {
  return static_cast<std::size_t>(metrics::find_column(metric) - metrics::columns().data());
}

// A run of a sweep with some metrics, valid, with a seed of its own.
inline ResultRow row(std::uint64_t point, std::vector<std::string> values,
                     const std::vector<std::pair<std::string, double>>& metrics) {
  ResultRow row;
  row.point = point;
  row.seed = static_cast<std::int64_t>(point);
  row.id = "p" + std::to_string(point);
  row.values = std::move(values);
  row.verdict = "valid";
  row.metrics.resize(metrics::columns().size());
  for (const auto& [name, value] : metrics) row.metrics[place_of(name)] = Estimate{value, value, value};
  return row;
}

}  // namespace llmscape::explore::test
