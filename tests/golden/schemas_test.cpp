// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/schemas.hpp"
#include "tests/golden/golden_file.hpp"
#include "tests/golden/schema_check.hpp"
#include "tests/golden/schema_folder.hpp"

namespace fs = std::filesystem;

namespace {

using llmscape::cli::fields_of_schema;
using llmscape::test::SchemaCheck;
using llmscape::test::SchemaFolder;

std::string file_of(std::string_view name) { return std::string(name) + ".schema.json"; }

// What the field tables say now, whatever the files hold.
const SchemaFolder& written_now() {
  static const SchemaFolder folder = [] {
    SchemaFolder out;
    for (const auto& [name, text] : llmscape::cli::schema_files()) out.add(file_of(name), text);
    return out;
  }();
  return folder;
}

// `definitions` of all files, by what they say of a struct.
std::map<std::string, std::vector<std::string>> structs_of(const SchemaFolder& folder) {
  std::map<std::string, std::vector<std::string>> places;
  for (const std::string_view name : llmscape::cli::kSchemas) {
    for (const auto& [key, definition] : folder.definitions(file_of(name)).items())
      if (definition.contains("properties")) places[definition.dump()].push_back(file_of(name) + ' ' + key);
  }
  return places;
}

}  // namespace

TEST_CASE("the schemas that editors read are what the field tables say") {
  for (const auto& [name, text] : llmscape::cli::schema_files())
    llmscape::test::check_golden("schemas/" + file_of(name), text);
}

TEST_CASE("every reference leads somewhere, every definition is referred to, and a struct is written once") {
  const SchemaFolder& folder = written_now();
  std::set<std::string> referred_to;
  for (const std::string_view name : llmscape::cli::kSchemas) {
    for (const std::string& reference : folder.references(file_of(name))) {
      CHECK_MESSAGE(folder.find(reference), reference);
      const std::size_t key = std::string("/definitions/").size() + reference.find('#') + 1;
      referred_to.insert(reference.substr(0, reference.find('/', key)));
    }
  }
  for (const std::string_view name : llmscape::cli::kSchemas)
    for (const auto& [key, unused] : folder.definitions(file_of(name)).items())
      CHECK_MESSAGE(referred_to.contains(file_of(name) + "#/definitions/" + key), file_of(name), ' ', key);
  const auto structs = structs_of(folder);
  CHECK(structs.size() > 100);
  for (const auto& [text, places] : structs) CHECK_MESSAGE(places.size() == 1, places[0], ", ", places.back());
  CHECK(folder.find("device.schema.json#/definitions/device.gpu/properties/kind") != nullptr);
  CHECK(folder.find("device.schema.json#/definitions/device.gpu/properties/knid") == nullptr);
}

TEST_CASE("the schemas hold every key of the field tables, and nothing else") {
  for (const std::string_view name : llmscape::cli::kSchemas) {
    CAPTURE(name);
    const std::string group = name == "device" ? "device" : "";
    CHECK(uncovered(written_now(), file_of(name), fields_of_schema(name), group) == "");
  }
}

TEST_CASE("a key that a schema lacks, has too much of or takes otherwise is found") {
  const auto found_after = [](const std::string& file, const std::string& place, const nlohmann::json& patch) {
    SchemaFolder folder = written_now();
    nlohmann::json schema = folder.root(file);
    REQUIRE(schema.contains(nlohmann::json::json_pointer(place)));
    schema[nlohmann::json::json_pointer(place)].merge_patch(patch);
    folder.add(file, schema.dump());
    return uncovered(folder, "scenario.schema.json", fields_of_schema("scenario"));
  };
  CHECK(found_after("scenario.schema.json", "/properties/seed", nlohmann::json::object()) == "");
  CHECK(found_after("scenario.schema.json", "/properties/seed", {{"minimum", 1}}) ==
        "scenario/seed: none of its values\n");
  CHECK(found_after("scenario.schema.json", "/properties", {{"seed", nullptr}}) == "scenario: no key 'seed'\n");
  CHECK(found_after("scenario.schema.json", "/properties", {{"sed", {{"type", "integer"}}}}) ==
        "scenario: no field 'sed'\n");
  CHECK(found_after("scenario.schema.json", "/definitions/slo/properties", {{"ttft", nullptr}}) ==
        "scenario/slo: no key 'ttft'\n");
  CHECK(found_after("scenario.schema.json", "/definitions", {{"quantity.time", nullptr}})
            .find("#/definitions/quantity.time: leads nowhere") != std::string::npos);
  CHECK(found_after("device.schema.json", "/definitions/device.gpu/properties/kind", {{"const", "gpo"}})
            .find("scenario/hardware/devices: no kind 'gpu'") != std::string::npos);
}

// The scenario's had 610,518 bytes while each place that held a struct wrote it out.
TEST_CASE("a schema stays below 150 kB") {
  for (const auto& [name, text] : llmscape::cli::schema_files()) {
    CAPTURE(name);
    CHECK(text.size() < 150'000);
  }
}

namespace {

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
  const SchemaFolder folder = SchemaFolder::of_repository();
  std::map<fs::path, SchemaCheck> schemas;
  for (const fs::path& file : descriptions()) {
    CAPTURE(file.string());
    const fs::path schema = schema_named_in(file).lexically_normal();
    CHECK_FALSE(schema.empty());
    if (schema.empty()) continue;
    CHECK(schema.parent_path() == "schemas");
    llmscape::Diagnostics diagnostics;
    const llmscape::YamlNode tree = llmscape::read_yaml_file(file, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
    auto known = schemas.find(schema);
    if (known == schemas.end()) known = schemas.try_emplace(schema, folder, schema.filename().string()).first;
    CHECK(known->second.mistake(llmscape::test::json_of(tree)) == "");
  }
  CHECK(schemas.size() >= 8);
}

TEST_CASE("an editor finds a mistyped key, a missing unit and a value out of range") {
  SchemaCheck scenario(written_now(), "scenario.schema.json");
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

TEST_CASE("an editor takes what a run takes: kinds that are left out") {
  SchemaCheck scenario(written_now(), "scenario.schema.json");
  const auto mistake = [&scenario](const std::string& line) {
    llmscape::Diagnostics diagnostics;
    llmscape::YamlNode tree = llmscape::read_yaml_file("examples/chat-h100/scenario.yaml", diagnostics);
    llmscape::apply_override(tree, line, diagnostics);
    CHECK(diagnostics.text(false) == "");
    return scenario.mistake(llmscape::test::json_of(tree));
  };
  for (const char* line : {"serving.batcher={max_num_seqs: 8}", "workload.stream={kind: chat, think: {mean: 2 s}}"}) {
    CAPTURE(line);
    CHECK(mistake(line) == "");
  }
  for (const char* line :
       {"serving.batcher={max_num_sequences: 8}", "workload.stream={kind: chat, think: {meen: 2 s}}"}) {
    CAPTURE(line);
    CHECK(mistake(line) != "");
  }
}
