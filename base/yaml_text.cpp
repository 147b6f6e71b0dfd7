// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_text.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

namespace llmscape {

bool check_text(const std::shared_ptr<const SourceText>& source, Diagnostics& diagnostics) {
  SourceRange where{source, source->first_line, 1, 1};
  std::string_view rest = source->text;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  while (!rest.empty()) {
    const std::size_t length = utf8_length(rest);
    const auto first = static_cast<unsigned char>(rest.front());
    const bool line_end = first == '\n' || rest.starts_with("\r\n");
    if (length == 0) {
      diagnostics.error(where, fmt::format("the byte 0x{:02x} is not UTF-8", first));
      return false;
    }
    if ((first < 0x20 && first != '\t' && !line_end) || first == 0x7F) {
      diagnostics.error(where, fmt::format("the control character 0x{:02x} does not belong in a text", first));
      return false;
    }
    where.column += static_cast<int>(length);
    if (first == '\n') {
      ++where.line;
      where.column = 1;
    }
    rest.remove_prefix(length);
  }
  return true;
}

std::string spaces_for_tabs(std::string text) {
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') ++i;
    else if (text[i] == '"') in_string = !in_string;
    else if (text[i] == '\t' && !in_string) text[i] = ' ';
  }
  return text;
}

}  // namespace llmscape
