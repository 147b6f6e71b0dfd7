// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace llmscape::test {

// A fenced block of a page.
struct Block {
  int line = 0;          // where it begins
  std::string language;  // the first word behind the fence
  std::string notes;     // what follows it there
  std::vector<std::string> lines;
};
std::vector<Block> blocks_of(const std::filesystem::path& page);

// A command of a block in `sh` or `console`, and what it is to answer.
struct Command {
  int line = 0;
  std::string text;
  int code = 0;  // as a comment at its end says: "# exits 1"
};
// The lines that call llmscape, or awk to make what it reads, with a prompt "$ " or without; a line that ends in a
// backslash goes on in the next.
std::vector<Command> commands_of(const Block& block);

}  // namespace llmscape::test
