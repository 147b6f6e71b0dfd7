// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/command_words.hpp"

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

namespace llmscape::cli {

std::vector<CommandWord> words_of_command(std::string name, const std::string& command) {
  const auto source = std::make_shared<const SourceText>(SourceText{std::move(name), command});
  std::vector<CommandWord> words;
  for (std::size_t i = 0; i < command.size();) {
    if (std::isspace(static_cast<unsigned char>(command[i])) || (command[i] == '\\' && command[i + 1] == '\n')) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    CommandWord word;
    char quote = 0;
    for (; i < command.size() && (quote || !std::isspace(static_cast<unsigned char>(command[i]))); ++i) {
      const char c = command[i];
      if (quote ? c == quote : c == '\'' || c == '"') quote = quote ? 0 : c;
      else word.text += c;
    }
    const auto line_start = command.rfind('\n', begin) + 1;  // npos + 1 is 0
    word.where = {
        source,
        1 + static_cast<int>(std::count(command.begin(), command.begin() + static_cast<std::ptrdiff_t>(begin), '\n')),
        1 + static_cast<int>(begin - line_start), static_cast<int>(i - begin)};
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace llmscape::cli
