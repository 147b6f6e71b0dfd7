// SPDX-License-Identifier: Apache-2.0
#include "base/number_lists.hpp"

#include <algorithm>

namespace llmscape {
namespace {

std::size_t behind_blanks(std::string_view text, std::size_t at, std::string_view blanks) {
  return std::min(text.find_first_not_of(blanks, at), text.size());
}

// One behind the plain number that begins at `at`, or `at` if none does.
std::size_t behind_number(std::string_view text, std::size_t at) {
  std::size_t digits = at;
  if (digits < text.size() && (text[digits] == '-' || text[digits] == '+')) ++digits;
  if (digits < text.size() && text[digits] == '.') ++digits;
  if (digits >= text.size() || text[digits] < '0' || text[digits] > '9') return at;
  return std::min(text.find_first_not_of("0123456789.eE+-", digits), text.size());
}

// One behind the ']' of the long list whose '[' stands at `open`, or 0 if there is none.
std::size_t behind_list(std::string_view text, std::size_t open) {
  int numbers = 0;
  for (std::size_t at = open + 1;; ++at) {
    at = behind_blanks(text, at, " \n");
    const std::size_t end = behind_number(text, at);
    if (end == at) return 0;
    ++numbers;
    at = behind_blanks(text, end, " \n");
    if (at == text.size() || (text[at] != ',' && text[at] != ']')) return 0;
    if (text[at] == ']') return numbers < kLongNumberList ? 0 : at + 1;
  }
}

}  // namespace

std::vector<NumberList> long_number_lists(std::string_view text) {
  std::vector<NumberList> out;
  for (std::size_t open = text.find('['); open != std::string_view::npos; open = text.find('[', open + 1)) {
    const std::size_t end = behind_list(text, open);
    if (end == 0) continue;
    const std::size_t line = text.rfind('\n', open) + 1;  // npos + 1 is 0
    const bool in_comment = text.substr(line, open - line).find('#') != std::string_view::npos;
    const std::size_t next = behind_blanks(text, end, " ");
    if (!in_comment && (next == text.size() || text[next] == '\n')) out.push_back({open, end});
    open = end - 1;
  }
  return out;
}

std::string without_lists(std::string_view text, std::span<const NumberList> lists) {
  std::string out;
  std::size_t from = 0;
  for (const NumberList& list : lists) {
    out.append(text.substr(from, list.begin - from)).append("\"\"");
    out.append(static_cast<std::size_t>(std::ranges::count(text.substr(list.begin, list.end - list.begin), '\n')),
               '\n');
    from = list.end;
  }
  return out.append(text.substr(from));
}

std::vector<YamlNode> numbers_of(std::string_view text, const NumberList& list, const SourceRange& where) {
  std::vector<YamlNode> out;
  const std::string_view all = text.substr(list.begin, list.end - list.begin);
  out.reserve(static_cast<std::size_t>(std::ranges::count(all, ',')) + 1);
  YamlNode number;
  number.kind = YamlNode::Kind::scalar;
  number.where = where;
  std::size_t at = list.begin + 1;
  std::size_t line = at - static_cast<std::size_t>(where.column);
  while (at < list.end - 1) {
    const std::size_t end = behind_number(text, at);
    if (end == at) {  // ',', ' ' or '\n'
      if (text[at++] != '\n') continue;
      ++number.where.line;
      line = at;
      continue;
    }
    number.text = text.substr(at, end - at);
    number.where.column = static_cast<int>(at - line) + 1;
    number.where.length = static_cast<int>(end - at);
    out.push_back(number);
    at = end;
  }
  return out;
}

}  // namespace llmscape
