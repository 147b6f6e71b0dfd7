// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/results_csv.hpp"

#include <fmt/format.h>
#include <charconv>

#include <algorithm>

#include "sim/result/metric_table.hpp"

namespace llmscape::explore {

// What spreadsheets take for a formula begins so; the apostrophe in front, which they hide, is doubled itself.
constexpr std::string_view kFormulas = "=+-@'";

std::string csv_cell(std::string_view text) {
  std::string cell;
  double value = 0;  // below 0, with its unit, and nothing that would go on to calculate
  const char* const end = text.data() + text.size();
  const char* const rest = std::from_chars(text.data(), end, value).ptr;
  const bool number = rest != text.data() &&
                      std::string_view(rest, static_cast<std::size_t>(end - rest)).find_first_of("=+-*|()!'@&<>") ==
                          std::string_view::npos;
  if (!text.empty() && kFormulas.find(text[0]) != std::string_view::npos && !number) cell += '\'';
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c == '\n' || c == '\r' ? ' ' : c;
  }
  return text.find_first_of(",\"") == std::string_view::npos ? cell : '"' + cell + '"';
}

std::string csv_header(const std::vector<std::string>& axes, bool intervals) {
  std::string line = "point,id";
  for (const std::string& axis : axes) line += ',' + csv_cell(axis);
  line += ",repeat,seed,verdict";
  for (const metrics::Column& column : metrics::columns()) {
    line += ',' + column.name;
    if (intervals) line += fmt::format(",{0}.low,{0}.high", column.name);
  }
  return line + ",energy_boundary,currency\n";
}

std::string csv_row(const ResultRow& row, bool intervals) {
  std::string line = fmt::format("{},{}", row.point, csv_cell(row.id));
  for (const std::string& value : row.values) line += ',' + csv_cell(value);
  line += fmt::format(",{},{},{}", row.repeat, row.seed, row.verdict);
  for (const auto& metric : row.metrics) {
    line += metric ? fmt::format(",{}", metric->value) : ",";
    if (!intervals) continue;
    const bool known = metric && metric->low < metric->high;
    line += known ? fmt::format(",{},{}", metric->low, metric->high) : ",,";
  }
  return line + ',' + csv_cell(row.energy_boundary) + ',' + csv_cell(row.currency) + '\n';
}

}  // namespace llmscape::explore
