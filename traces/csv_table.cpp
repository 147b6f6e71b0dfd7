// SPDX-License-Identifier: Apache-2.0
#include "traces/csv_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "traces/cells.hpp"

namespace llmscape::traces {

CsvTable::CsvTable(std::string path, std::vector<CsvColumn> columns, Diagnostics& diagnostics,
                   std::vector<std::string> passed_over)
    : columns_(std::move(columns)), passed_over_(std::move(passed_over)), rows_(std::move(path)),
      diagnostics_(&diagnostics), place_(columns_.size()) {
  read_header();
}

void CsvTable::read_header() {
  const int errors = diagnostics_->errors();
  row_ = rows_.next(*diagnostics_);
  if (!row_) {
    if (diagnostics_->errors() == errors) report_whole_file("the table is empty");
    return;
  }
  CsvHeader header = read_csv_header(*row_, columns_, [this](std::string_view name) {
    return std::ranges::any_of(passed_over_, [&](const std::string& prefix) { return name.starts_with(prefix); });
  });
  place_ = std::move(header.place);
  width_ = header.width;
}

bool CsvTable::next() {
  if (width_ == 0) return false;
  const int errors = diagnostics_->errors();
  while ((row_ = rows_.next(*diagnostics_))) {
    empty_ = false;
    split_cells(row_->text(), cells_);
    if (cells_fit(*row_, cells_, width_)) return true;
  }
  if (empty_ && diagnostics_->errors() == errors) report_whole_file("the table has no rows");
  return false;
}

void CsvTable::report_whole_file(std::string message) {
  diagnostics_->error({std::make_shared<SourceText>(SourceText{rows_.path(), {}})}, std::move(message));
}

std::string_view CsvTable::text(std::size_t column) const { return row_->text(cells_[*place_[column]]); }

std::optional<std::int64_t> CsvTable::whole(std::size_t column, std::int64_t least) const {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto value = parse_number<std::int64_t>(text(column));
  if (value && *value >= least && *value <= kMost) return value;
  error(column, fmt::format("'{}' must be a whole number from {} to {}; got {}", columns_[column].name, least, kMost,
                            in_quotes(text(column))));
  return std::nullopt;
}

std::optional<double> CsvTable::not_negative(std::size_t column) const {
  const auto value = parse_number<double>(text(column));
  if (value && std::isfinite(*value) && *value >= 0) return value;
  error(column,
        fmt::format("'{}' must be a number of at least 0; got {}", columns_[column].name, in_quotes(text(column))));
  return std::nullopt;
}

std::optional<double> CsvTable::positive(std::size_t column) const {
  const auto value = parse_number<double>(text(column));
  if (value && std::isfinite(*value) && *value > 0) return value;
  error(column, fmt::format("'{}' must be a number above 0; got {}", columns_[column].name, in_quotes(text(column))));
  return std::nullopt;
}

void CsvTable::error(std::size_t column, std::string message) const {
  row_->error(cells_[*place_[column]], std::move(message));
}

}  // namespace llmscape::traces
