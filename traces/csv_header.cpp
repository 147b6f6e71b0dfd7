// SPDX-License-Identifier: Apache-2.0
#include "traces/csv_header.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "traces/cells.hpp"

namespace llmscape::traces {

bool is_csv(std::filesystem::path path) {
  if (path.extension() == ".gz" || path.extension() == ".zst") path.replace_extension();
  return path.extension() == ".csv";
}

std::optional<char> other_separator(std::string_view line) {
  if (line.find(',') != line.npos || line.starts_with('{')) return std::nullopt;
  const std::size_t at = line.find_first_of(";\t");
  return at == line.npos ? std::nullopt : std::optional(line[at]);
}

CsvHeader read_csv_header(const Row& row, const std::vector<CsvColumn>& columns,
                          const std::function<bool(std::string_view)>& passed_over) {
  std::vector<std::string> names, others;
  for (const CsvColumn& column : columns) names.push_back(column.name);
  std::vector<Span> cells;
  split_cells(row.text(), cells);
  CsvHeader header{cells.size(), std::vector<std::optional<std::size_t>>(columns.size())};
  bool good = true;
  if (const auto other = other_separator(row.text()); other && cells.size() == 1) {
    row.error({row.text().find(*other), 1},
              fmt::format("cells are separated by commas, not by {}", *other == ';' ? "';'" : "tabs"));
    return {0, std::move(header.place)};
  }
  const auto error = [&](Span where, std::string message, std::string suggestion = {}) {
    row.error(where, std::move(message), std::move(suggestion));
    good = false;
  };
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string name(row.text(cells[i]));
    const auto known = std::ranges::find(names, name);
    if (known == names.end()) {
      if (passed_over && passed_over(name)) {
        others.push_back(name);
      } else {
        error(cells[i], fmt::format("unknown column {}", in_quotes(name)), did_you_mean(name, names));
      }
      continue;
    }
    auto& place = header.place[static_cast<std::size_t>(known - names.begin())];
    if (place) error(cells[i], fmt::format("column '{}' stands twice", name));
    place = i;
  }
  for (std::size_t column = 0; column < columns.size(); ++column)
    if (columns[column].required && !header.place[column])
      // Where others are passed over, one of them may be what was meant.
      error({}, fmt::format("column '{}' is missing", names[column]), did_you_mean(names[column], others));
  if (!good) header.width = 0;
  return header;
}

}  // namespace llmscape::traces
