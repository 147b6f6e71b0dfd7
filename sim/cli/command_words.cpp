// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/command_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

namespace llmscape::cli {

std::optional<std::vector<CommandWord>> words_of_command(std::string name, const std::string& command,
                                                         Diagnostics& diagnostics) {
  const auto source = std::make_shared<const SourceText>(SourceText{std::move(name), command});
  const auto place = [&](std::size_t begin, std::size_t length) {
    const auto line_start = command.rfind('\n', begin) + 1;  // npos + 1 is 0
    const auto before = command.begin() + static_cast<std::ptrdiff_t>(begin);
    return SourceRange{source, 1 + static_cast<int>(std::count(command.begin(), before, '\n')),
                       1 + static_cast<int>(begin - line_start), static_cast<int>(length)};
  };
  std::vector<CommandWord> words;
  for (std::size_t i = 0; i < command.size();) {
    if (std::isspace(static_cast<unsigned char>(command[i])) || (command[i] == '\\' && command[i + 1] == '\n')) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    CommandWord word;
    char quote = 0;
    std::size_t opened = begin;
    for (; i < command.size() && (quote || !std::isspace(static_cast<unsigned char>(command[i]))); ++i) {
      const char c = command[i];
      const char next = i + 1 < command.size() ? command[i + 1] : ' ';
      if (c == '\\' && quote != '\'' && (next == '"' || next == '\\' || (next == '\'' && !quote))) {
        word.text += command[++i];
      } else if (quote ? c == quote : c == '\'' || c == '"') {
        quote = quote ? 0 : c;
        opened = i;
      } else {
        word.text += c;
      }
    }
    if (quote) {
      diagnostics.error(place(opened, 1), fmt::format("the quote {} is never closed", quote));
      return std::nullopt;
    }
    word.where = place(begin, i - begin);
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace llmscape::cli
