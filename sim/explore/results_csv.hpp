// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/explore/results.hpp"

namespace llmscape::explore {

// How results.csv is written; read_results reads it. Text as RFC 4180 quotes it, numbers in the shortest form that
// reads back to the same bits, lines that end with LF.

// One cell: in quotes where it holds a comma or a quote, which is then doubled. Line breaks become spaces. Before what
// a spreadsheet would take for a formula (a text that begins with = + - @, but for a number) stands an apostrophe, as
// before an apostrophe itself; who reads takes the first one off.
std::string csv_cell(std::string_view text);
// The first line. With `intervals` there is a place for the interval of every metric.
std::string csv_header(const std::vector<std::string>& axes, bool intervals);
// Cells of metrics that the run does not have are empty, as are those of intervals that are not known.
std::string csv_row(const ResultRow& row, bool intervals);

}  // namespace llmscape::explore
