// SPDX-License-Identifier: Apache-2.0
#include "traces/cells.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmscape::traces {
namespace {

// The end of the quoted cell that begins at `begin`, behind its closing quote; nothing when no quote ends a cell.
std::optional<std::size_t> end_of_quoted(std::string_view line, std::size_t begin) {
  for (std::size_t i = line.find('"', begin + 1); i != std::string_view::npos; i = line.find('"', i + 2)) {
    if (i + 1 == line.size() || line[i + 1] == ',') return i + 1;
    if (line[i + 1] != '"') return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

void split_cells(std::string_view line, std::vector<Span>& cells) {
  cells.clear();
  for (std::size_t begin = 0; begin <= line.size();) {
    if (begin < line.size() && line[begin] == '"') {
      if (const auto end = end_of_quoted(line, begin)) {
        cells.push_back({begin + 1, *end - begin - 2});
        begin = *end + 1;
        continue;
      }
    }
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back({begin, end - begin});
    begin = end + 1;
  }
}

std::string text_of_cell(std::string_view line, const Span& cell) {
  std::string text(line.substr(cell.position, cell.length));
  if (cell.position == 0 || line[cell.position - 1] != '"') return text;
  for (std::size_t at = text.find("\"\""); at != std::string::npos; at = text.find("\"\"", at + 1)) text.erase(at, 1);
  return text;
}

bool cells_fit(const Row& row, const std::vector<Span>& cells, std::size_t width) {
  for (const Span& cell : cells) {
    const bool begins = cell.position == 0 || row.text()[cell.position - 1] == ',';
    if (!begins || !row.text(cell).starts_with('"')) continue;
    if (std::ranges::count(row.text().substr(cell.position), '"') % 2 == 0) continue;
    row.error(cell, "the quote of this cell does not end in its line: cells of several lines are not read");
    return false;
  }
  if (cells.size() != width) row.error({}, fmt::format("{} columns where the header has {}", cells.size(), width));
  return cells.size() == width;
}

}  // namespace llmscape::traces
