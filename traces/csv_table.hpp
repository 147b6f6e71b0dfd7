// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "traces/csv_header.hpp"
#include "traces/row.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape::traces {

// A table of comma-separated cells under a header (plain, .gz or .zst), row by row; columns may stand in any order.
// Strict: unknown, missing and repeated columns, rows of another width and a table without rows are errors with
// file:line:col.
class CsvTable {
 public:
  // Columns are then named by their index in `columns`. Others are unknown, but for those whose names begin with one of
  // `passed_over`.
  CsvTable(std::string path, std::vector<CsvColumn> columns, Diagnostics& diagnostics,
           std::vector<std::string> passed_over = {});
  CsvTable(const CsvTable&) = delete;
  CsvTable& operator=(const CsvTable&) = delete;

  // Goes to the next row, reporting and skipping those of another width; false at the end or below a broken header.
  bool next();

  [[nodiscard]] bool has(std::size_t column) const { return place_[column].has_value(); }
  // Cells of the row, only of columns that the table has. Numbers report and return nothing where they are wrong.
  [[nodiscard]] std::string_view text(std::size_t column) const;
  // A whole number from `least` to 2^31 - 1.
  [[nodiscard]] std::optional<std::int64_t> whole(std::size_t column, std::int64_t least) const;
  // A finite number above 0, or of at least 0.
  [[nodiscard]] std::optional<double> positive(std::size_t column) const;
  [[nodiscard]] std::optional<double> not_negative(std::size_t column) const;
  void error(std::size_t column, std::string message) const;

 private:
  void read_header();
  void report_whole_file(std::string message);

  std::vector<CsvColumn> columns_;
  std::vector<std::string> passed_over_;
  RowFile rows_;
  Diagnostics* diagnostics_;
  std::optional<Row> row_;
  std::vector<Span> cells_;                        // of the row
  std::vector<std::optional<std::size_t>> place_;  // of each column among the cells
  std::size_t width_ = 0;                          // cells of the header; 0: none, or broken
  bool empty_ = true;
};

}  // namespace llmscape::traces
