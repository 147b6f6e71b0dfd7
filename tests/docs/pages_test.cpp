// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/cli/shell.hpp"
#include "tests/docs/page.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> pages() {
  std::vector<fs::path> found{"README.md", "CONTRIBUTING.md"};
  for (const char* folder : {"docs", "examples"})
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".md") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// A folder that looks like the top of the source tree and may be written to.
void furnish(const Scratch& scratch) {
  for (const char* folder : {"docs", "hardware", "models", "schemas", "traces", "workloads"})
    fs::create_directory_symlink(fs::absolute(folder), scratch.path(folder));
  fs::copy("examples", scratch.path("examples"), fs::copy_options::recursive);
  fs::create_directories(scratch.path("build/release"));
  fs::create_symlink(LLMSCAPE_PROGRAM, scratch.path("build/release/llmscape"));
}

void check_command(const Scratch& scratch, const fs::path& page, const Command& command) {
  scratch.file("command.sh", "ulimit -t " + std::to_string(20 * kSlowdown) +
                                 "\nexport NO_COLOR=1 PATH=$PWD/build/release:$PATH\nset -o pipefail\n" + command.text +
                                 '\n');
  const Shell ran =
      shell("cd " + scratch.path("") + " && timeout " + std::to_string(300 * kSlowdown) + " bash command.sh 2>&1");
  CHECK_MESSAGE(ran.code == command.code, page.string(), ":", command.line, ": ", command.text, "\nanswers ", ran.code,
                ":\n", ran.out);
}

// Files that a page shows are there for the commands that follow, under the name in their first line: "# file: x.yaml".
void write_file(const Scratch& scratch, const Block& block) {
  static const std::string kName = "# file: ";
  if (block.lines.empty() || !block.lines.front().starts_with(kName)) return;
  std::string text;
  for (std::size_t i = 1; i < block.lines.size(); ++i) text += block.lines[i] + '\n';
  scratch.file(block.lines.front().substr(kName.size()), text);
}

bool is_shell(const Block& block) { return block.language == "sh" || block.language == "console"; }
bool is_run(const Block& block) { return is_shell(block) && !block.notes.starts_with("no-run"); }

}  // namespace

TEST_CASE("every command of every page does what the page says") {
  for (const fs::path& page : pages()) {
    const std::vector<Block> blocks = blocks_of(page);
    if (std::none_of(blocks.begin(), blocks.end(), is_run)) continue;
    const Scratch scratch;
    furnish(scratch);
    for (const Block& block : blocks) {
      write_file(scratch, block);
      if (!is_run(block)) continue;
      for (const Command& command : commands_of(block)) check_command(scratch, page, command);
    }
  }
}

TEST_CASE("no two pages write into one folder, so that a reader may follow both") {
  static const std::regex kOutput(R"((?:^| )-o (out\S*))");
  std::map<std::string, std::string> page_of;
  for (const fs::path& page : pages()) {
    if (page.filename() == "cli.md") continue;  // help texts, with names of no page
    for (const Block& block : blocks_of(page))
      for (const Command& command : is_run(block) ? commands_of(block) : std::vector<Command>()) {
        std::smatch match;
        if (!std::regex_search(command.text, match, kOutput)) continue;
        const auto& [folder, owner] = *page_of.emplace(match[1], page.string()).first;
        CHECK_MESSAGE(owner == page.string(), page.string(), ":", command.line, " writes into ", folder, ", as ",
                      owner);
        CHECK_MESSAGE(folder != "out", page.string(), ":", command.line, " writes into the folder of all");
      }
  }
}

TEST_CASE("commands stand in blocks of sh or console, and one that is not run has a reason") {
  for (const fs::path& page : pages())
    for (const Block& block : blocks_of(page)) {
      CAPTURE(page.string());
      CAPTURE(block.line);
      if (!is_shell(block)) CHECK(commands_of(block).empty());
      if (block.notes.starts_with("no-run")) CHECK(block.notes.starts_with("no-run: "));
    }
}

}  // namespace llmscape::test
