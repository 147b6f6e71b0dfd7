// SPDX-License-Identifier: Apache-2.0
// `nvidia-smi --query-gpu=timestamp,index,power.draw,clocks.sm --format=csv -l 1` (columns in any order, with or
// without units), and tables of DCGM's fields by their names (timestamp, gpu, DCGM_FI_DEV_POWER_USAGE,
// DCGM_FI_DEV_SM_CLOCK).
#include <fmt/format.h>

#include <algorithm>

#include "sim/observe/log_line.hpp"
#include "sim/observe/readers.hpp"
#include "traces/cells.hpp"

namespace llmscape::observe {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\""), last = text.find_last_not_of(" \t\"");
  return first == text.npos ? std::string_view() : text.substr(first, last - first + 1);
}

// "power.draw [W]" and "power.draw.average [W]" are power.
std::string_view meaning(std::string_view column) {
  if (column == "timestamp" || column == "time") return "time";
  if (column == "index" || column == "gpu" || column == "Entity") return "device";
  if (column.starts_with("power.draw") || column == "DCGM_FI_DEV_POWER_USAGE") return quantity::kPower;
  if (column.starts_with("clocks.sm") || column.starts_with("clocks.current.sm") || column == "DCGM_FI_DEV_SM_CLOCK")
    return quantity::kClock;
  return "";
}

bool recognises(std::string_view beginning) {
  const std::string_view header = beginning.substr(0, beginning.find('\n'));
  return header.find("power.draw") != header.npos || header.find("DCGM_FI_DEV_POWER_USAGE") != header.npos;
}

void read(const std::string& path, Observed& observed, Diagnostics& diagnostics) {
  traces::RowFile file(path);
  std::vector<traces::Span> cells;
  std::vector<std::string> columns;
  while (const auto row = file.next(diagnostics)) {
    traces::split_cells(row->text(), cells);
    if (columns.empty()) {
      for (const traces::Span& cell : cells) columns.emplace_back(meaning(trimmed(row->text(cell))));
      if (std::ranges::find(columns, "time") == columns.end())
        return row->error({}, "the table has no column 'timestamp'");
      continue;
    }
    if (cells.size() != columns.size()) {
      row->error({}, fmt::format("{} columns where the header has {}", cells.size(), columns.size()));
      continue;
    }
    std::optional<double> at;
    std::string device = "0";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string_view text = trimmed(row->text(cells[i]));
      if (columns[i] == "device") device = text;
      if (columns[i] != "time") continue;
      at = time_in(text);
      if (!at) at = traces::parse_number<double>(text);
      if (!at) row->error(cells[i], fmt::format("{} is no time", in_quotes(text)));
    }
    for (std::size_t i = 0; at && i < cells.size(); ++i) {
      if (columns[i] != quantity::kPower && columns[i] != quantity::kClock) continue;
      const std::string_view text = trimmed(row->text(cells[i]));
      if (text == "[N/A]" || text == "N/A") continue;
      const auto value = traces::parse_number<double>(text.substr(0, text.find(' ')));
      if (value && *value >= 0) observed.courses[columns[i]][device].add(*at, *value);
      else row->error(cells[i], fmt::format("{} is no number", in_quotes(text)));
    }
  }
}

}  // namespace

Reader power_csv() { return {"power-csv", "CSV of nvidia-smi, or of DCGM's fields", recognises, read}; }

}  // namespace llmscape::observe
