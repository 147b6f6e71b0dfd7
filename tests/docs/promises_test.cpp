// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string text_in_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Whether the file has a test of that name: names of tests stand on one line.
bool has_test(const fs::path& file, const std::string& name) {
  return text_in_file(file).find("\"" + name + "\")") != std::string::npos;
}

}  // namespace

TEST_CASE("each line of docs/promises.md names tests that exist") {
  static const std::regex link(R"re(\["([^"]+)"\]\(([^)]+)\))re");
  std::istringstream page(text_in_file("docs/promises.md"));
  int promises = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("- ")) continue;
    ++promises;
    int tests = 0;
    for (auto found = std::sregex_iterator(line.begin(), line.end(), link); found != std::sregex_iterator(); ++found) {
      ++tests;
      const fs::path file = fs::path("docs") / (*found)[2].str();
      CHECK_MESSAGE(has_test(file, (*found)[1]), file.lexically_normal().string(), " has no test \"", (*found)[1].str(),
                    "\"");
    }
    CHECK_MESSAGE(tests > 0, "no test holds: ", line);
  }
  CHECK(promises > 30);
  CHECK_FALSE(has_test("tests/docs/promises_test.cpp", "a test that does not exist" + std::string(" anywhere")));
}
