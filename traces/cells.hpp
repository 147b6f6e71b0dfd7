// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "traces/row.hpp"

namespace llmscape::traces {

// The comma-separated cells of a line, into `cells`. A cell in double quotes may hold commas; its span is what lies
// between the quotes (a quote inside stays doubled).
void split_cells(std::string_view line, std::vector<Span>& cells);

// The text of a cell, quotes in a quoted one single.
std::string text_of_cell(std::string_view line, const Span& cell);

// Whether the line has `width` cells, all of which end in it; reports otherwise.
bool cells_fit(const Row& row, const std::vector<Span>& cells, std::size_t width);

// The whole of `text` as a number, or nothing.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace llmscape::traces
