// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/golden/golden_file.hpp"
#include "tests/support/run_program.hpp"

namespace {

namespace fs = std::filesystem;
using llmscape::test::Ran;
using llmscape::test::run_program;

std::vector<fs::path> examples() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator("examples"))
    if (fs::exists(entry.path() / "scenario.yaml")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

TEST_CASE("every example prints what it printed before, byte for byte, and is valid") {
  CHECK(examples().size() >= 7);
  for (const fs::path& folder : examples()) {
    CAPTURE(folder.string());
    const Ran ran = run_program({"run", folder / "scenario.yaml", "--format", "json", "--quiet"}, 120);
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    CHECK(ran.out.find(R"("state": "valid")") != std::string::npos);
    llmscape::test::check_golden(folder / "expected.json", ran.out);
    CHECK(fs::exists(folder / "README.md"));
  }
}
