// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/row.hpp"

namespace llmscape::traces {

// A column that a table must have, or may have.
struct CsvColumn {
  std::string name;
  bool required = true;
};

// Where columns stand among the cells of a row.
struct CsvHeader {
  std::size_t width = 0;                          // cells of the header; 0: it is broken, which was reported
  std::vector<std::optional<std::size_t>> place;  // of each column that was asked for
};

// Whether the name says so: .csv, also compressed (.csv.gz, .csv.zst).
bool is_csv(std::filesystem::path path);

// What seems to separate the cells of a line without commas: ';' or a tab.
std::optional<char> other_separator(std::string_view line);

// Reads `row` as a header. Errors are a column that stands twice, a required one that is missing, and another one,
// unless `passed_over` accepts its name; one alone where something else than commas separates the cells.
CsvHeader read_csv_header(const Row& row, const std::vector<CsvColumn>& columns,
                          const std::function<bool(std::string_view)>& passed_over = {});

}  // namespace llmscape::traces
