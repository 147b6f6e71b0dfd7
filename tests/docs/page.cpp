// SPDX-License-Identifier: Apache-2.0
#include "tests/docs/page.hpp"

#include <fstream>
#include <regex>
#include <sstream>

namespace llmscape::test {

std::vector<Block> blocks_of(const std::filesystem::path& page) {
  std::vector<Block> blocks;
  std::ifstream in(page);
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!line.starts_with("```")) {
      if (inside) blocks.back().lines.push_back(line);
      continue;
    }
    inside = !inside;
    if (!inside) continue;
    Block block{number, "", "", {}};
    std::istringstream info(line.substr(3));
    info >> block.language >> std::ws;
    std::getline(info, block.notes);
    blocks.push_back(block);
  }
  return blocks;
}

std::vector<Command> commands_of(const Block& block) {
  static const std::regex kCall("(\\$ )?((build/release/)?llmscape( .*)?|awk -f .*)"), kCode(".*# exits ([0-9]+)");
  std::vector<Command> commands;
  std::string text;
  for (std::size_t i = 0; i < block.lines.size(); ++i) {
    text += block.lines[i];
    if (text.ends_with('\\')) {
      text.back() = ' ';
      continue;
    }
    std::smatch call, code;
    if (std::regex_match(text, call, kCall))
      commands.push_back({block.line + 1 + static_cast<int>(i), call[2],
                          std::regex_match(text, code, kCode) ? std::stoi(code[1]) : 0});
    text.clear();
  }
  return commands;
}

}  // namespace llmscape::test
