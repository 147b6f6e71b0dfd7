// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sim/cli/schemas.hpp"
#include "tests/golden/golden_file.hpp"

namespace fs = std::filesystem;

TEST_CASE("the schemas that editors read are what the field tables say") {
  for (const std::string_view name : llmscape::cli::kSchemas)
    llmscape::test::check_golden("schemas/" + std::string(name) + ".schema.json", llmscape::cli::schema_of(name));
}

TEST_CASE("the first line of every YAML file of the examples names its schema by a path that exists") {
  for (const auto& entry : fs::recursive_directory_iterator("examples")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().string());
    std::string line;
    std::getline(std::ifstream(entry.path()) >> std::ws, line);
    const std::string marker = "# yaml-language-server: $schema=";
    REQUIRE(line.starts_with(marker));
    CHECK(fs::exists(entry.path().parent_path() / line.substr(marker.size())));
  }
}
