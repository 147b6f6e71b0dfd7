// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/golden/golden_file.hpp"
#include "tests/support/run_program.hpp"

namespace {

namespace fs = std::filesystem;
using llmscape::test::Ran;
using llmscape::test::run_program;

// The folders of broken files, by what is wrong with them. `parts` holds what they refer to.
constexpr std::string_view kFolder = "tests/bad_input";

std::vector<fs::path> broken_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder))
    if (entry.path().extension() == ".yaml" && entry.path().parent_path().filename() != "parts") files.push_back(entry);
  std::sort(files.begin(), files.end());
  return files;
}

// What the leading comments of a file promise: `# expect: 4:3 unknown key` (an error there, or, with a file's name
// before the line, in that file) and `# shows: did you mean` (a text anywhere).
struct Promise {
  struct Error {
    std::string place;  // "/name.yaml:4:3: error: "
    std::string fragment;
  };
  std::vector<Error> errors;
  std::vector<std::string> shown;
};

Promise promise_of(const fs::path& file) {
  Promise promise;
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line) && line.starts_with("# ");) {
    std::istringstream words(line.substr(2));
    std::string kind, place, rest;
    words >> kind;
    if (kind == "shows:") {
      std::getline(words >> std::ws, rest);
      promise.shown.push_back(rest);
    } else if (kind == "expect:") {
      words >> place;
      std::getline(words >> std::ws, rest);
      if (std::count(place.begin(), place.end(), ':') == 1) place = file.filename().string() + ':' + place;
      promise.errors.push_back({'/' + place + ": error: ", rest});
    }
  }
  return promise;
}

// The lines of `text` that report an error.
std::vector<std::string> errors_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.find(": error: ") != std::string::npos) lines.push_back(line);
  return lines;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("every broken file is refused where it is broken, and nowhere else") {
  const std::vector<fs::path> files = broken_files();
  CHECK(files.size() >= 100);
  std::string messages;
  for (const fs::path& file : files) {
    CAPTURE(file.string());
    const Promise promise = promise_of(file);
    REQUIRE_FALSE(promise.errors.empty());
    const Ran ran = run_program({"lint", file.string()});
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    messages += "$ llmscape lint " + file.string() + '\n' + ran.err + '\n';
    const std::vector<std::string> errors = errors_in(ran.err);
    CHECK(errors.size() == promise.errors.size());
    for (const auto& [place, fragment] : promise.errors) {
      CAPTURE(place);
      CAPTURE(fragment);
      CHECK(std::any_of(errors.begin(), errors.end(),
                        [&](const std::string& line) { return holds(line, place) && holds(line, fragment); }));
    }
    for (const std::string& text : promise.shown) CHECK_MESSAGE(holds(ran.err, text), "does not show: ", text);
  }
  // Whole, as a reader sees them: place, words, the line itself, hint. Files of the catalogue have their whole path.
  const std::string root = fs::current_path().string() + '/';
  for (std::size_t at = messages.find(root); at != std::string::npos; at = messages.find(root, at))
    messages.erase(at, root.size());
  llmscape::test::check_golden("tests/bad_input/messages.txt", messages);
}
