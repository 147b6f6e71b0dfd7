// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "traces/cells.hpp"
#include "traces/row.hpp"

namespace llmscape::validation {
namespace {

void read_row(const traces::Row& row, const std::vector<traces::Span>& cells, Rows& rows) {
  if (!traces::cells_fit(row, cells, rows.metrics.size() + 1)) return;
  const auto [entry, fresh] = rows.values.try_emplace(std::string(row.text(cells[0])));
  if (!fresh) row.error(cells[0], fmt::format("{} stands twice", in_quotes(row.text(cells[0]))));
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const std::string_view text = row.text(cells[i]);
    if (text.empty()) continue;
    const auto value = traces::parse_number<double>(text);
    if (value && std::isfinite(*value) && *value >= 0) entry->second[rows.metrics[i - 1]] = *value;
    else
      row.error(cells[i],
                fmt::format("'{}' must be a number of at least 0; got {}", rows.metrics[i - 1], in_quotes(text)));
  }
}

}  // namespace

std::optional<Rows> read_rows(const std::string& path, Diagnostics& diagnostics) {
  const int errors = diagnostics.errors();
  Rows rows;
  traces::RowFile file(path);
  std::vector<traces::Span> cells;
  while (const auto row = file.next(diagnostics)) {
    traces::split_cells(row->text(), cells);
    if (!rows.metrics.empty()) {
      read_row(*row, cells, rows);
      continue;
    }
    for (std::size_t i = 1; i < cells.size(); ++i) {
      const std::string metric(row->text(cells[i]));
      if (std::ranges::find(rows.metrics, metric) != rows.metrics.end())
        row->error(cells[i], fmt::format("column {} stands twice", in_quotes(metric)));
      rows.metrics.push_back(metric);
    }
    if (!rows.metrics.empty()) continue;
    row->error({}, "a table of results has a column that names the row and at least one metric");
    break;
  }
  if (diagnostics.errors() > errors) return std::nullopt;
  if (!rows.values.empty()) return rows;
  diagnostics.error({std::make_shared<const SourceText>(SourceText{path, ""})}, "the table has no rows");
  return std::nullopt;
}

std::optional<std::vector<Comparison>> compare_rows(const Rows& predicted, const Rows& measured,
                                                    const SourceRange& where, Diagnostics& diagnostics) {
  const int errors = diagnostics.errors();
  for (const auto& [name, metrics] : measured.values)
    if (!predicted.values.contains(name))
      diagnostics.error(where, fmt::format("{} was measured, but is not in the predicted table", in_quotes(name)));
  if (diagnostics.errors() > errors) return std::nullopt;
  std::vector<Comparison> comparisons;
  for (const std::string& metric : measured.metrics) {
    std::vector<Pair> pairs;
    for (const auto& [name, values] : measured.values) {
      const auto& ours = predicted.values.at(name);
      const auto seen = values.find(metric), said = ours.find(metric);
      if (seen != values.end() && said != ours.end()) pairs.push_back({name, said->second, seen->second});
    }
    if (!pairs.empty()) comparisons.push_back(compare(metric, "", pairs));
  }
  if (!comparisons.empty()) return comparisons;
  diagnostics.error(where, "the two tables have no metric in common");
  return std::nullopt;
}

}  // namespace llmscape::validation
