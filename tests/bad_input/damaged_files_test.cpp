// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/run_program.hpp"

namespace {

namespace fs = std::filesystem;
using llmscape::test::Ran;
using llmscape::test::run_program;

const fs::path kGoodScenario = "examples/chat-h100/scenario.yaml";

// A file of its own in a folder that goes when the test ends.
class Scratch {
 public:
  Scratch() : folder_(fs::temp_directory_path() / ("llmscape-bad-input-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { fs::remove_all(folder_); }

  [[nodiscard]] fs::path folder() const { return folder_; }
  [[nodiscard]] Ran lint(const std::string& text) const {
    const fs::path file = folder_ / "scenario.yaml";
    std::ofstream(file, std::ios::binary) << text;
    return run_program({"lint", file.string()}, 10);
  }

 private:
  fs::path folder_;
};

std::string good_scenario() {
  std::ostringstream text;
  text << std::ifstream(kGoodScenario).rdbuf();
  return text.str();
}

// Accepted, or refused with a place; never a crash, a hang or an internal error.
void check_answered(const Ran& ran) {
  CAPTURE(ran.err);
  CHECK((ran.code == 0 || ran.code == 2));
  CHECK((ran.err.find("error: ") != std::string::npos) == (ran.code == 2));
}

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

// Nine levels of ten references each: a thousand million nodes if they were followed.
std::string growing_aliases() {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int level = 1; level <= 9; ++level) {
    const std::string before = "*a" + std::to_string(level - 1), name = 'a' + std::to_string(level);
    text += name + ": &" + name + " [" + before + repeated(", " + before, 9) + "]\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the scenario that these tests damage is good") {
  const Ran ran = run_program({"lint", kGoodScenario.string()});
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
}

TEST_CASE("a scenario cut off anywhere is answered") {
  const Scratch scratch;
  const std::string text = good_scenario();
  for (std::size_t length = 0; length < text.size(); length += 7) {
    CAPTURE(length);
    check_answered(scratch.lint(text.substr(0, length)));
  }
}

TEST_CASE("a scenario with any line missing, doubled or indented is answered") {
  const Scratch scratch;
  const std::string text = good_scenario();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    const std::string before = text.substr(0, begin), line = text.substr(begin, end - begin), after = text.substr(end);
    CAPTURE(line);
    check_answered(scratch.lint(before + after));
    check_answered(scratch.lint(before + line + line + after));
    check_answered(scratch.lint(before + ' ' + line + after));
    begin = end;
  }
}

TEST_CASE("what is no scenario at all is refused") {
  const Scratch scratch;
  const std::string good = good_scenario();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"nothing", ""},
      {"only a comment", "# nothing\n"},
      {"a scalar", "seed\n"},
      {"a list", "- seed: 1\n"},
      {"a zero byte", good + std::string("note: a\0b\n", 10)},
      {"bytes that are no UTF-8", good + "note: \xff\xfe\xc3\n"},
      {"UTF-16", std::string("\xff\xfes\0e\0e\0d\0:\0 \0001\0", 16)},
      {"ten thousand open brackets", repeated("[", 10'000)},
      {"ten thousand nested keys", repeated("{a: ", 10'000)},
      {"ten thousand nested lists", repeated("- ", 10'000)},
      {"references that grow tenfold nine times", growing_aliases()},
      {"a reference to itself", "a: &a [*a]\n"},
      {"a key of a million letters", std::string(1'000'000, 'k') + ": 1\n"},
      {"a thousand unknown keys",
       [] {
         std::string text;
         for (int i = 0; i < 1000; ++i) text += "key" + std::to_string(i) + ": 1\n";
         return text;
       }()},
  };
  for (const auto& [name, text] : cases) {
    CAPTURE(name);
    const Ran ran = scratch.lint(text);
    CAPTURE(ran.err.substr(0, 2000));
    CHECK(ran.code == 2);
    CHECK(ran.err.find("error: ") != std::string::npos);
    CHECK(ran.err.size() < 10'000'000);
  }
}

TEST_CASE("line ends of Windows and a byte-order mark do no harm") {
  const Scratch scratch;
  std::string text = "\xef\xbb\xbf";
  for (const char c : good_scenario()) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const Ran ran = scratch.lint(text);
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
}

TEST_CASE("a file that cannot be read is refused by name") {
  const Scratch scratch;
  for (const fs::path& path : {scratch.folder() / "missing.yaml", scratch.folder()}) {
    CAPTURE(path.string());
    const Ran ran = run_program({"lint", path.string()}, 10);
    CHECK(ran.code == 2);
    CHECK(ran.err.find(path.string()) != std::string::npos);
  }
}
