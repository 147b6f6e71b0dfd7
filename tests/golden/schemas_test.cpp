// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "sim/cli/schemas.hpp"
#include "tests/golden/golden_file.hpp"
#include "tests/golden/schema_check.hpp"

namespace fs = std::filesystem;

TEST_CASE("the schemas that editors read are what the field tables say") {
  for (const std::string_view name : llmscape::cli::kSchemas)
    llmscape::test::check_golden("schemas/" + std::string(name) + ".schema.json", llmscape::cli::schema_of(name));
}

namespace {

using llmscape::test::SchemaCheck;

// All YAML that is shipped; tests/bad_input is broken on purpose.
std::vector<fs::path> descriptions() {
  std::vector<fs::path> files;
  for (const char* folder : {"docs", "examples", "hardware", "models", "workloads", "studies", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".yaml" && !entry.path().string().starts_with("tests/bad_input"))
        files.push_back(entry.path());
  return files;
}

// The schema that a file names in its first line, for editors.
fs::path schema_named_in(const fs::path& file) {
  const std::string marker = "# yaml-language-server: $schema=";
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line.starts_with(marker) ? file.parent_path() / line.substr(marker.size()) : fs::path();
}

}  // namespace

TEST_CASE("the first line of every description leads to its schema, which it keeps") {
  std::map<fs::path, SchemaCheck> schemas;
  for (const fs::path& file : descriptions()) {
    CAPTURE(file.string());
    if (file.filename() == "prices.yaml") continue;  // schema prices/1 has no JSON schema yet
    const fs::path schema = schema_named_in(file).lexically_normal();
    CHECK_FALSE(schema.empty());
    if (schema.empty()) continue;
    CHECK(schema.parent_path() == "schemas");
    llmscape::Diagnostics diagnostics;
    const llmscape::YamlNode tree = llmscape::read_yaml_file(file, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
    auto known = schemas.find(schema);
    if (known == schemas.end())
      known = schemas.emplace(schema, SchemaCheck(nlohmann::json::parse(std::ifstream(schema)))).first;
    CHECK(known->second.mistake(llmscape::test::json_of(tree)) == "");
  }
  CHECK(schemas.size() >= 8);
}

TEST_CASE("an editor finds a mistyped key, a missing unit and a value out of range") {
  SchemaCheck scenario(nlohmann::json::parse(std::ifstream("schemas/scenario.schema.json")));
  const auto mistake = [&scenario](const std::string& slip) {
    llmscape::Diagnostics diagnostics;
    llmscape::YamlNode tree = llmscape::read_yaml_file("examples/chat-h100/scenario.yaml", diagnostics);
    llmscape::apply_override(tree, slip, diagnostics);
    return scenario.mistake(llmscape::test::json_of(tree));
  };
  CHECK(mistake("seed=2") == "");
  CHECK(mistake("sed=2").starts_with("/sed: "));
  CHECK(mistake("slo.ttft=200").starts_with("/slo/ttft: "));
  CHECK(mistake("hardware.devices[0].count=0").starts_with("/hardware/devices/0"));
}
