// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/golden_file.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace llmscape::test {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The first line in which two texts differ, of both: a whole file would bury it.
std::string difference(const std::string& expected, const std::string& got) {
  std::istringstream a(expected), b(got);
  std::string was, is;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(a, was)), more_b = static_cast<bool>(std::getline(b, is));
    if (!more_a && !more_b) return "only in line ends";
    if (was != is || more_a != more_b)
      return "line " + std::to_string(line) + "\n  was: " + (more_a ? was : "(end)") +
             "\n  is:  " + (more_b ? is : "(end)");
  }
}

}  // namespace

void check_golden(const std::string& path, const std::string& text) {
  if (std::getenv("LLMSCAPE_UPDATE_GOLDEN")) {
    if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
      std::filesystem::create_directories(folder);
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  const std::string expected = content(path);
  CHECK_MESSAGE(expected == text, path,
                " is not what is printed now (target update_golden rewrites it): ", difference(expected, text));
}

void check_golden_part(const std::string& path, std::string_view name, const std::string& text) {
  const std::string whole = content(path), begin = "<!-- begin " + std::string(name) + " -->\n",
                    end = "<!-- end " + std::string(name) + " -->\n";
  const std::size_t from = whole.find(begin), to = whole.find(end);
  REQUIRE_MESSAGE(from < to, path, " has no part ", name);
  REQUIRE_MESSAGE(to != std::string::npos, path, " has no end of part ", name);
  check_golden(path, whole.substr(0, from) + begin + text + whole.substr(to));
}

}  // namespace llmscape::test
