// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>

#include "base/diagnostics.hpp"
#include "sim/validation/comparison.hpp"

namespace llmscape::validation {

// Metrics of named configurations: (TTFT, TPOT) by deployment, latency by batch.
struct Rows {
  std::vector<std::string> metrics;                             // in the order of the columns
  std::map<std::string, std::map<std::string, double>> values;  // by configuration, then metric
};

// A CSV table, plain or compressed: the first column names the configuration, each other one is a metric, in SI units,
// at least 0; empty cells are not known. Nothing after reporting mistakes with file:line:col.
std::optional<Rows> read_rows(const std::string& path, Diagnostics& diagnostics);

// Each metric that both tables have, over the configurations that both have a value for. Nothing after reporting at
// `where` that there is none, or that a measured configuration was not predicted.
std::optional<std::vector<Comparison>> compare_rows(const Rows& predicted, const Rows& measured,
                                                    const SourceRange& where, Diagnostics& diagnostics);

}  // namespace llmscape::validation
