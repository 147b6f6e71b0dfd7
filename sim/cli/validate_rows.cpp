// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/validate_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "sim/cli/catalogs.hpp"
#include "sim/validation/host_constants.hpp"
#include "sim/validation/row_runs.hpp"

namespace llmscape::cli {

namespace {

// Columns that no row has a value in.
void check_by(const std::vector<std::string>& by, const validation::MeasuredTable& table, Diagnostics& diagnostics) {
  for (const std::string& column : by) {
    if (std::ranges::any_of(table.rows, [&](const auto& row) { return row.columns.contains(column); })) continue;
    std::vector<std::string> known;
    for (const auto& [name, value] : table.rows.front().columns) known.push_back(name);
    diagnostics.error({std::make_shared<const SourceText>(SourceText{"--by", ""})},
                      fmt::format("the table has no column {}", in_quotes(column)), did_you_mean(column, known));
  }
}

}  // namespace

void validate_rows(const RowArguments& arguments, validation::Report& report, Diagnostics& diagnostics) {
  const bool batches = arguments.deployments.empty();
  const std::string& path = batches ? arguments.batches : arguments.deployments;
  const auto kind = batches ? validation::RowKind::batch : validation::RowKind::deployment;
  report.predicted = "predictions";
  report.measured = path;
  std::optional<std::filesystem::path> mapping;
  if (!arguments.columns.empty()) mapping = arguments.columns;
  const auto table = validation::read_measured_table(path, kind, mapping, diagnostics);
  std::vector<std::string> host;
  if (!arguments.host.empty())
    host = validation::read_host_constants(arguments.host, diagnostics).value_or(std::vector<std::string>{});
  if (table) check_by(arguments.by, *table, diagnostics);
  if (diagnostics.has_errors() || !table) return;

  const auto points = simulate_rows(*table, rows_to_predict(*table), host, remembering_catalogs(), arguments.jobs);
  std::vector<const validation::RowPoint*> all;
  for (const auto& point : points) all.push_back(&point);
  report.comparisons = compare_points(*table, all);
  if (!arguments.by.empty())
    for (const auto& group : group_points(points, arguments.by))
      report.groups.push_back({group.name, compare_points(*table, group.points)});
  for (const auto& row : table->rows)
    if (row.left_out) report.left_out.push_back({row.name, *row.left_out});
  for (const auto& point : points)
    if (!point.refused.empty()) report.left_out.push_back({point.row->name, point.refused});
}

}  // namespace llmscape::cli
