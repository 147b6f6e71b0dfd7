// SPDX-License-Identifier: Apache-2.0
#include "sim/report/explain.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/table.hpp"
#include "sim/report/units.hpp"

namespace llmscape::report {
namespace {

using Json = nlohmann::ordered_json;
using Cell = Explanation::Cell;

std::string shown(const Cell& cell, const std::string& unit) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  const auto* number = std::get_if<double>(&cell);
  if (!number) return "-";
  if (unit == "s") return duration(*number);
  return unit == "share" ? percent(*number) : amount(*number);
}

Json json_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  const auto* number = std::get_if<double>(&cell);
  return number ? Json(*number) : Json();
}

// A bar as long as the share, whole at 20 columns.
std::string bar(double share) {
  std::string text;
  for (int i = 0; i < std::lround(20 * share); ++i) text += "█";
  return text;
}

std::string table_of(const Explanation::Section& section) {
  // Shares of one whole are drawn too, where nothing else stands behind them.
  const bool bars = section.columns.back().unit == "share" && section.key != "utilisation";
  std::size_t drawn = 0;
  while (section.columns[drawn].unit != "share" && drawn + 1 < section.columns.size()) ++drawn;
  std::vector<std::string> header;
  for (const auto& column : section.columns) header.push_back(column.header);
  if (bars) header.emplace_back();
  Table table(header);
  for (const auto& row : section.rows) {
    std::vector<std::string> cells;
    for (std::size_t c = 0; c < row.size(); ++c) cells.push_back(shown(row[c], section.columns[c].unit));
    if (bars) cells.push_back(bar(std::get<double>(row[drawn])));
    table.row(std::move(cells));
  }
  return table.text(kPageColumns);
}

}  // namespace

std::string to_text(const Explanation& explanation) {
  std::string out = explanation.about + "\n\n";
  for (const std::string& sentence : explanation.answer) out += wrapped(sentence, kPageColumns) + '\n';
  for (const auto& section : explanation.sections) out += fmt::format("\n{}\n{}", section.title, table_of(section));
  if (!explanation.warnings.empty()) out += '\n';
  for (const std::string& warning : explanation.warnings)
    out += wrapped("warning: " + warning, kPageColumns - 9, 9) + '\n';
  return out;
}

std::string to_json(const Explanation& explanation) {
  Json json = {{"schema", "explain/1"}, {"about", explanation.about}, {"answer", explanation.answer}};
  for (const auto& section : explanation.sections) {
    Json& rows = json[section.key] = Json::array();
    for (const auto& row : section.rows) {
      Json& members = rows.emplace_back(Json::object());
      for (std::size_t c = 0; c < row.size(); ++c) members[section.columns[c].key] = json_of(row[c]);
    }
  }
  json["warnings"] = explanation.warnings;
  return json.dump(2) + '\n';
}

}  // namespace llmscape::report
