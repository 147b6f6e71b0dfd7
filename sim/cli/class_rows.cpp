// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/class_rows.hpp"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/explore/run_row.hpp"
#include "sim/report/result_file.hpp"

namespace llmscape::cli {

std::filesystem::path run_file(const explore::ResultsTable& table, const explore::ResultRow& row,
                               const std::string& results) {
  std::filesystem::path point = table.folder / "points" / (row.id + ".json");
  return std::filesystem::exists(point) ? point : std::filesystem::path(results);
}

void add_class_rows(explore::ResultsTable& table, const std::string& results, Diagnostics& diagnostics) {
  table.axes.emplace_back(kClassAxis);
  std::vector<explore::ResultRow> rows;
  for (explore::ResultRow& row : table.rows) {
    const auto run = report::read_result(run_file(table, row, results), diagnostics);
    rows.push_back(row);
    rows.back().values.emplace_back("(all)");
    const auto classes = run.is_object() ? run.find("classes") : run.end();
    if (classes == run.end()) continue;
    for (const auto& [name, of_class] : classes->items()) {
      explore::ResultRow& added = rows.emplace_back(row);
      added.values.push_back(name.empty() ? "(none)" : name);
      added.metrics = explore::row_of(nlohmann::json(of_class)).metrics;
      if (added.verdict == "noisy") added.verdict = "valid";  // the rows of all fail where their repeats are noisy
    }
  }
  table.rows = std::move(rows);
}

}  // namespace llmscape::cli
