// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/scenario_paths.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include "base/files.hpp"
#include "hardware/table/table_device.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {
namespace {

// Keys of fields whose description begins with what only names of files have, through all groups and kinds.
void keys_of_paths(const StructInfo& info, std::set<const StructInfo*>& seen, std::set<std::string>& keys) {
  if (!seen.insert(&info).second) return;
  for (const FieldInfo& field : info.fields) {
    if (field.text.starts_with("path of") || field.text.starts_with("folder of")) keys.insert(field.key);
    if (field.group) keys_of_paths(*field.group, seen, keys);
    if (field.family)
      for (const FamilyInfo::Member& member : field.family->members) keys_of_paths(*member.info, seen, keys);
  }
}

YamlNode tree(const std::string& text) {
  Diagnostics diagnostics;
  YamlNode node = read_yaml(std::make_shared<const SourceText>(SourceText{"out/plan.yaml", text}), diagnostics);
  REQUIRE(!diagnostics.has_errors());
  return node;
}

const char* const kScenario =
    "model: {hf_config: m.json}\nmodels: {a: {hf_config: /m/a.json}, b: {preset: p}}\n"
    "hardware: {devices: [{kind: table, tables: t}, {preset: own.yaml}, {preset: l4}], topology: {kind: platform, "
    "file: net.xml}}\n"
    "workload: {replay: {trace: ../x.csv}}\ncost: {preset: prices.yaml}\n";

}  // namespace

TEST_CASE("every field that is a path is visited, and none other") {
  std::set<const StructInfo*> seen;
  std::set<std::string> keys;
  keys_of_paths(scenario_fields().info(), seen, keys);
  CHECK(keys == std::set<std::string>{"file", "hf_config", "tables", "trace"});
  YamlNode root = tree(kScenario);
  std::multiset<std::string> visited;
  visit_paths(root, "home", [&](const YamlNode& path, const std::filesystem::path&) { visited.insert(path.text); });
  CHECK(visited ==
        std::multiset<std::string>{"../x.csv", "/m/a.json", "m.json", "net.xml", "own.yaml", "prices.yaml", "t"});
}

TEST_CASE("moved paths name the same files from another folder; whole ones stay") {
  const YamlNode moved = moved_paths(tree(kScenario), "home", "home/out/a");
  CHECK(moved.find("model")->find("hf_config")->text == "../../m.json");
  CHECK(moved.find("models")->find("a")->find("hf_config")->text == "/m/a.json");
  CHECK(moved.find("workload")->find("replay")->find("trace")->text == "../../../x.csv");
  CHECK(moved.find("hardware")->find("devices")->items[0].find("tables")->text == "../../t");
}

TEST_CASE("where does a table or a platform start that a saved plan or an option spelled?") {
  YamlNode root = tree(kScenario);
  const auto tables = [&]() -> const YamlNode& {
    return *root.find("hardware")->find("devices")->items[0].find("tables");
  };
  const YamlNode& platform = *root.find("hardware")->find("topology")->find("file");
  {
    const AnchoredPaths found_from(root, "home");
    CHECK(hardware::tables_folder(tables()) == std::filesystem::absolute("home/t"));
    CHECK(platform.text == std::filesystem::absolute("home/net.xml"));
  }
  CHECK(tables().text == "t");
  CHECK(platform.text == "net.xml");
}

TEST_CASE("a device file that starts from another one of the user's own finds it beside itself") {
  namespace fs = std::filesystem;
  const fs::path home = fs::temp_directory_path() / ("llmscape-paths-" + std::to_string(getpid()));
  fs::create_directories(home / "devices");
  write_file_atomically(home / "devices/mine.yaml", "schema: device/1\npreset: base.yaml\nhbm_capacity: 96 GB\n");
  write_file_atomically(home / "devices/base.yaml",
                        "schema: device/1\npreset: l4\nhbm_capacity: 48 GB\nhbm_bandwidth: 1 TB/s\n");
  write_file_atomically(home / "scenario.yaml",
                        "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{preset: devices/mine.yaml}]}\n"
                        "workload: {preset: chat-1k, requests: 20}\n");
  Diagnostics diagnostics;
  const auto scenario =
      load_scenario(home / "scenario.yaml", {}, std::nullopt,
                    {"models/catalog", "hardware/catalog", "workloads/catalog", nullptr}, diagnostics);
  CHECK(diagnostics.text(false) == "");
  REQUIRE(scenario);
  CHECK(scenario->config.hardware.devices[0]->memory() == Bytes(96e9));
  fs::remove_all(home);
}

}  // namespace llmscape::scenario
