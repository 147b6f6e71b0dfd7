// SPDX-License-Identifier: Apache-2.0
// `nvidia-smi --query-gpu=timestamp,index,power.draw,clocks.sm --format=csv -l 1` (columns in any order, with or
// without units), and tables of DCGM's fields by their names (timestamp, gpu, DCGM_FI_DEV_POWER_USAGE,
// DCGM_FI_DEV_SM_CLOCK).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

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

constexpr double kNoTime = std::numeric_limits<double>::infinity();

// W and MHz, whatever stands between.
std::string_view unit_of(std::string_view quantity) { return quantity == quantity::kPower ? "W" : "MHz"; }

// What each column means; false after reporting.
bool read_header(const traces::Row& row, const std::vector<traces::Span>& cells, std::vector<std::string>& columns) {
  bool ok = true;
  const auto wrong = [&](traces::Span where, std::string message) {
    row.error(where, std::move(message));
    ok = false;
  };
  for (const traces::Span& cell : cells) {
    const std::string_view name = trimmed(row.text(cell)), meant = meaning(name);
    const bool again = !meant.empty() && std::ranges::find(columns, meant) != columns.end();
    if (again && meant == "time") wrong(cell, "a second column of times");
    const std::size_t bracket = name.find('[');
    if ((meant == quantity::kPower || meant == quantity::kClock) && bracket != name.npos &&
        name.substr(bracket) != fmt::format("[{}]", unit_of(meant)))
      wrong(cell, fmt::format("{} is not in {}", in_quotes(name), unit_of(meant)));
    columns.emplace_back(again ? std::string_view() : meant);  // of power.draw and power.draw.instant the first
  }
  const auto has = [&](std::string_view meant) { return std::ranges::find(columns, meant) != columns.end(); };
  if (!has("time")) wrong({}, "the table has no column 'timestamp'");
  if (!has(quantity::kPower) && !has(quantity::kClock)) wrong({}, "the table has no column of power or clocks");
  return ok;
}

void read(const std::string& path, Observed& observed, Diagnostics& diagnostics) {
  traces::RowFile file(path);
  std::vector<traces::Span> cells;
  std::vector<std::string> columns;
  std::map<std::string, Moments> moments;  // by device
  while (const auto row = file.next(diagnostics)) {
    traces::split_cells(row->text(), cells);
    if (columns.empty()) {
      if (!read_header(*row, cells, columns)) return;
      continue;
    }
    if (cells.size() != columns.size()) {
      row->error({}, fmt::format("{} columns where the header has {}", cells.size(), columns.size()));
      continue;
    }
    bool timed = false;
    double at = 0;
    traces::Span when;
    std::string device = "0";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string_view text = trimmed(row->text(cells[i]));
      if (columns[i] == "device") device = text;
      if (columns[i] != "time") continue;
      when = cells[i];
      at = time_in(text).value_or(traces::parse_number<double>(text).value_or(kNoTime));
      timed = std::isfinite(at);
      if (!timed) row->error(when, fmt::format("{} is no time", in_quotes(text)));
    }
    if (!timed || !moments[device].follows(*row, when, at)) continue;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (columns[i] != quantity::kPower && columns[i] != quantity::kClock) continue;
      const std::string_view text = trimmed(row->text(cells[i]));
      if (text == "[N/A]" || text == "N/A") continue;
      const std::size_t blank = text.find(' ');
      const auto value = traces::parse_number<double>(text.substr(0, blank));
      if (blank != text.npos && trimmed(text.substr(blank)) != unit_of(columns[i]))
        row->error(cells[i], fmt::format("{} is not in {}", in_quotes(text), unit_of(columns[i])));
      else if (value && std::isfinite(*value) && *value >= 0) observed.courses[columns[i]][device].add(at, *value);
      else row->error(cells[i], fmt::format("{} is no number", in_quotes(text)));
    }
  }
}

}  // namespace

Reader power_csv() { return {"power-csv", "CSV of nvidia-smi, or of DCGM's fields", recognises, read}; }

}  // namespace llmscape::observe
