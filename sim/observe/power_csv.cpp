// SPDX-License-Identifier: Apache-2.0
// `nvidia-smi --query-gpu=timestamp,index,power.draw,clocks.sm --format=csv -l 1` (columns in any order, with or
// without units), and tables of DCGM's fields by their names (timestamp, gpu, DCGM_FI_DEV_POWER_USAGE,
// DCGM_FI_DEV_SM_CLOCK).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "sim/observe/live_rows.hpp"
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
  if (column.starts_with("power.draw") || column == "DCGM_FI_DEV_POWER_USAGE") return quantity::kPower;
  if (column.starts_with("clocks.sm") || column.starts_with("clocks.current.sm") || column == "DCGM_FI_DEV_SM_CLOCK")
    return quantity::kClock;
  return "";
}

// Columns that say which device a row is of: of several the first of these.
constexpr std::array<std::string_view, 9> kIdentities = {"index",      "gpu",        "Entity", "uuid",      "gpu_uuid",
                                                         "pci.bus_id", "gpu_bus_id", "serial", "gpu_serial"};

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
  for (const std::string_view identity : kIdentities) {
    const auto found = std::ranges::find(cells, identity, [&](const auto& cell) { return trimmed(row.text(cell)); });
    if (found == cells.end()) continue;
    columns[static_cast<std::size_t>(found - cells.begin())] = "device";
    break;
  }
  const auto has = [&](std::string_view meant) { return std::ranges::find(columns, meant) != columns.end(); };
  if (!has("time")) wrong({}, "the table has no column 'timestamp'");
  if (!has(quantity::kPower) && !has(quantity::kClock)) wrong({}, "the table has no column of power or clocks");
  return ok;
}

// A number: seconds since 1970, or milli-, micro- or nanoseconds, which its size tells until the year 5138.
std::optional<double> seconds_since_1970(std::string_view text) {
  constexpr double kNoSeconds = 1e11;
  auto at = traces::parse_number<double>(text);
  for (int unit = 0; at && *at >= kNoSeconds && unit < 3; ++unit) *at /= 1000;
  return at;
}

// How many rows come at a time in a table that does not say which device a row is of.
class RowsAtATime {
 public:
  void add(double at) {
    const double gap = at - last_.value_or(at);
    if (last_ && gap > 10 * gap_) {
      if (rows_ > 0) ++groups_[rows_];
      rows_ = 0;
    }
    if (last_) gap_ = gap;
    ++rows_;
    last_ = at;
  }
  // One, unless at least two groups, and three of four, are of as many rows.
  [[nodiscard]] int usual() const {
    int most = 1, times = 0, all = 0;
    for (const auto& [rows, count] : groups_) {
      all += count;
      if (count > times) std::tie(most, times) = std::pair(rows, count);
    }
    return times >= 2 && 4 * times >= 3 * all ? most : 1;
  }

 private:
  std::optional<double> last_;
  double gap_ = std::numeric_limits<double>::infinity();
  int rows_ = 0;
  std::map<int, int> groups_;  // by their rows
};

void read(const std::string& path, Observed& observed, Diagnostics& diagnostics) {
  LiveRows file(path);
  std::vector<traces::Span> cells;
  std::vector<std::string> columns;
  std::map<std::string, Moments> moments;  // by device
  bool named = false;
  RowsAtATime together;
  while (const auto row = file.next(diagnostics)) {
    traces::split_cells(row->text(), cells);
    if (columns.empty()) {
      if (!read_header(*row, cells, columns)) return;
      named = std::ranges::find(columns, "device") != columns.end();
      continue;
    }
    if (!traces::cells_fit(*row, cells, columns.size())) continue;
    bool timed = false;
    double at = 0;
    traces::Span when;
    std::string device = "0";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string_view text = trimmed(row->text(cells[i]));
      if (columns[i] == "device") device = text;
      if (columns[i] != "time") continue;
      when = cells[i];
      at = time_in(text).value_or(seconds_since_1970(text).value_or(kNoTime));
      timed = std::isfinite(at);
      if (!timed) row->error(when, fmt::format("{} is no time", in_quotes(text)));
    }
    if (!timed || !moments[device].follows(*row, when, at)) continue;
    if (!named) together.add(at);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (columns[i] != quantity::kPower && columns[i] != quantity::kClock) continue;
      const std::string_view text = trimmed(row->text(cells[i]));
      if (text == "N/A" || (text.starts_with('[') && text.ends_with(']'))) continue;  // "[Unknown Error]"
      const std::size_t blank = text.find(' ');
      const auto value = traces::parse_number<double>(text.substr(0, blank));
      if (blank != text.npos && trimmed(text.substr(blank)) != unit_of(columns[i]))
        row->error(cells[i], fmt::format("{} is not in {}", in_quotes(text), unit_of(columns[i])));
      else if (value && std::isfinite(*value) && *value >= 0) observed.courses[columns[i]][device].add(at, *value);
      else row->error(cells[i], fmt::format("{} is no number", in_quotes(text)));
    }
  }
  file.note(observed);
  if (together.usual() > 1)
    diagnostics.error(
        {std::make_shared<const SourceText>(SourceText{path, ""})},
        fmt::format("rows come {} at a time, and no column says which device each is of", together.usual()),
        "sample with 'index', or keep the rows of one device");
}

}  // namespace

Reader power_csv() { return {"power-csv", "CSV of nvidia-smi, or of DCGM's fields", recognises, read}; }

}  // namespace llmscape::observe
