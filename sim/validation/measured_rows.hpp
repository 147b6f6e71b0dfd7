// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/expression.hpp"
#include "sim/validation/row_mapping.hpp"

// Tables of measurements of others, row by row: what was served how, and what came of it (docs/rows.md).
namespace llmscape::validation {

// What a row is, when its table does not say otherwise.
enum class RowKind {
  deployment,   // calls that come in a closed loop, or at a rate
  batch,        // calls that are all there at once
  observation,  // a request, or a sample of quantities over time: no scenario, and no metric is needed
};

// One quantity that a table measures.
struct TableMetric {
  std::string name;  // "ttft", "tpot.p99", "rate"
  std::string unit;
  Expression predicted;  // over the columns of the row and of its result
};

struct MeasuredRow {
  std::string name;
  int line = 0;                                 // in its file
  std::map<std::string, Value> columns;         // of the table, and ours
  std::string scenario;                         // as YAML
  std::vector<std::string> overrides;           // laid over it: "a.b=c"
  std::vector<std::optional<double>> measured;  // one for each metric of the table
  std::optional<std::string> left_out;          // why it is not predicted
  // Of observations: cells of times and tokens that are no such numbers. Whoever takes the row reports them.
  std::vector<Diagnostic> mistakes{};

  // The value of a column; nothing where it is empty.
  [[nodiscard]] std::optional<Value> value(std::string_view column) const;
};

struct MeasuredTable {
  std::vector<TableMetric> metrics;
  std::vector<std::string> columns;  // that rows may have: those of the file, and of the mapping
  std::vector<MeasuredRow> rows;
  std::filesystem::path folder;  // where relative paths of its models start
};

// Reads a table, plain or compressed; without a mapping its columns are ours. Nothing after reporting what is wrong
// with either.
std::optional<MeasuredTable> read_measured_table(const std::filesystem::path& table, RowKind kind,
                                                 const std::optional<std::filesystem::path>& mapping,
                                                 Diagnostics& diagnostics);

// Our columns, and what they mean; those of measurements are the metrics of results.
struct RowColumn {
  std::string_view name, text;
};
const std::vector<RowColumn>& row_columns();

// The scenario that the row's columns say, as YAML; nothing, with the reason in `problem`, where one is missing.
std::optional<std::string> row_scenario(const MeasuredRow& row, RowKind kind, std::string& problem);

}  // namespace llmscape::validation
