// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "sim/validation/report.hpp"

namespace llmscape::cli {

// What `validate --deployments` and `--batches` are given.
struct RowArguments {
  std::string deployments, batches;  // a table, one of the two
  std::string columns;               // how it is read; empty: its columns are ours
  std::string host;                  // constants of the host; empty: none
  std::vector<std::string> by;       // columns that rows are grouped by
  int jobs = 1;
  [[nodiscard]] bool given() const { return !deployments.empty() || !batches.empty(); }
};

// Simulates each row of the table and compares. What is wrong with the files is reported.
void validate_rows(const RowArguments& arguments, validation::Report& report, Diagnostics& diagnostics);

}  // namespace llmscape::cli
