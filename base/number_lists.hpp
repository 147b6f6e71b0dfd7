// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape {

// A list of plain numbers in brackets, "[1, -2.5, 3e4]", by its place in a text of YAML.
struct NumberList {
  std::size_t begin = 0, end = 0;  // '[' and one behind ']'
};

// Lists shorter than this are left to the parser.
inline constexpr int kLongNumberList = 8;

// What looks like a long list of plain numbers with nothing behind it on its last line, in order. It may still stand in
// a text of several lines: only the parser can tell.
std::vector<NumberList> long_number_lists(std::string_view text);

// The text with an empty quoted text and the ends of its lines in the place of each list: all that follows stands in
// later lines, and keeps its line and column. The parser takes some 20,000 instructions for a number and 300 for a
// blank, and the tables of a calibrated device hold thousands of numbers.
std::string without_lists(std::string_view text, std::span<const NumberList> lists);

// The numbers of the list as the parser would have read them. `where`: the place of its '['.
std::vector<YamlNode> numbers_of(std::string_view text, const NumberList& list, const SourceRange& where);

}  // namespace llmscape
