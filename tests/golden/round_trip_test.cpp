// SPDX-License-Identifier: Apache-2.0
// Every description that is shipped, read into structs and written from them again, says the same.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "base/restate.hpp"
#include "base/schema.hpp"
#include "hardware/dram.hpp"
#include "hardware/fabric.hpp"
#include "hardware/link.hpp"
#include "hardware/memory_tier.hpp"
#include "hardware/retrieval/host.hpp"
#include "models/native.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/description.hpp"
#include "sim/cli/run_folder.hpp"
#include "sim/explore/plan_config.hpp"
#include "sim/scenario/written.hpp"
#include "sim/studies/study_config.hpp"
#include "workloads/workload.hpp"

namespace llmscape {
namespace {

namespace fs = std::filesystem;

// How many scalars the tree has.
int scalars(const YamlNode& node) {
  int all = node.is_scalar() ? 1 : 0;
  for (const YamlNode& item : node.items) all += scalars(item);
  for (const auto& entry : node.entries) all += scalars(entry.value);
  return all;
}

std::string lines(const std::vector<std::string>& all) { return fmt::format("{}", fmt::join(all, "\n")); }

// Reads the tree, writes the struct, reads and writes that again. Returns how many values were compared.
template <class T>
int check_round_trip(const Fields<T>& fields, YamlNode tree) {
  Diagnostics diagnostics;
  spell_out(tree, fields.info());
  T first, second;
  REQUIRE_MESSAGE(fields.read(first, tree, diagnostics), diagnostics.text(false));
  const std::string text = write_yaml(fields.write(first));
  CAPTURE(text);
  YamlNode again = read_yaml(std::make_shared<const SourceText>(SourceText{"written", text}), diagnostics);
  REQUIRE_MESSAGE(fields.read(second, again, diagnostics), diagnostics.text(false));
  CHECK(write_yaml(fields.write(second)) == text);
  fill_defaults(tree, fields.info());
  const std::string spelled = write_yaml(tree);
  CHECK(lines(restate(tree, again, fields.info())) == "");
  CHECK(write_yaml(tree) == spelled);  // what says the same stays as it is written
  return scalars(tree);
}

std::vector<fs::path> yaml_files(const fs::path& folder, bool deep = false) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".yaml" && (deep || entry.path().parent_path() == folder))
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

YamlNode description(const fs::path& file, std::string_view kind) {
  Diagnostics diagnostics;
  auto tree = description_file(file, kind, diagnostics);
  REQUIRE_MESSAGE(tree, diagnostics.text(false));
  return *tree;
}

template <class T>
int check_parts(const char* folder, const char* kind, const Fields<T>& fields) {
  int values = 0;
  for (const fs::path& file : yaml_files(fs::path("hardware/catalog") / folder)) {
    CAPTURE(file.string());
    values += check_round_trip(fields, description(file, kind));
  }
  return values;
}

}  // namespace

TEST_CASE("devices, their parts, workloads and models are written as they are read") {
  int values = 0;
  for (const fs::path& file : yaml_files("hardware/catalog")) {
    CAPTURE(file.string());
    Diagnostics diagnostics;
    YamlNode holder = YamlNode::mapping({});
    holder.set("device", description(file, "device"));
    expand_presets(holder, cli::device_file_fields().info(), scenario::preset_loader(cli::catalogs()), diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
    values += check_round_trip(cli::device_file_fields(), holder);
  }
  CHECK(values > 1000);
  CHECK(check_parts("dram", "dram", hardware::dram_fields()) > 0);
  CHECK(check_parts("hosts", "host", hardware::retrieval_host_fields()) > 0);
  CHECK(check_parts("links", "link", hardware::link_fields()) > 0);
  CHECK(check_parts("nodes", "node", hardware::node_fields()) > 0);
  CHECK(check_parts("tiers", "tier", hardware::memory_tier_fields()) > 0);
  for (const fs::path& file : yaml_files("workloads/catalog")) {
    CAPTURE(file.string());
    YamlNode tree = description(file, "workload");
    if (!tree.find("duration") && !tree.find("requests")) tree.set("requests", YamlNode::scalar("1"));
    CHECK(check_round_trip(workloads::workload_fields(), tree) > 0);
  }
  for (const fs::path& file : yaml_files("models/catalog")) {
    CAPTURE(file.string());
    YamlNode tree = description(file, "model");
    tree.set("schema", YamlNode::scalar("model/1"));
    CHECK(check_round_trip(models::native_model_fields(), tree) > 0);
  }
}

TEST_CASE("scenarios, sweeps and studies are written as they are read") {
  int scenarios = 0, sweeps = 0, studies = 0;
  const scenario::Catalogs catalogs = cli::remembering_catalogs();
  for (const char* folder : {"examples", "studies"})
    for (const fs::path& file : yaml_files(folder, true)) {
      CAPTURE(file.string());
      Diagnostics diagnostics;
      switch (cli::kind_of(file)) {
        case cli::FileKind::scenario: {
          const auto scenario = scenario::load_scenario(file, {}, std::nullopt, catalogs, diagnostics);
          if (!scenario) continue;  // one that a study or a sweep completes
          CHECK(write_yaml(scenario::written(*scenario)) ==
                write_yaml(scenario->resolved));  // in the words of the file
          const std::string text = write_yaml(cli::resolved_for(*scenario, scenario->folder));
          CAPTURE(text);
          const auto again = scenario::read_scenario(
              read_yaml(std::make_shared<const SourceText>(SourceText{"written", text}), diagnostics), scenario->folder,
              {}, std::nullopt, catalogs, diagnostics);
          REQUIRE_MESSAGE(again, diagnostics.text(false));
          CHECK(write_yaml(cli::resolved_for(*again, again->folder)) == text);
          YamlNode tree = scenario->resolved;
          tree.erase("schema");
          CHECK(check_round_trip(scenario::scenario_fields(), tree) > 50);
          ++scenarios;
          break;
        }
        case cli::FileKind::sweep:
          CHECK(check_round_trip(explore::plan_fields(), description(file, "sweep")) > 0);
          ++sweeps;
          break;
        case cli::FileKind::study:
          CHECK(check_round_trip(studies::study_fields(), description(file, "study")) > 0);
          ++studies;
          break;
        case cli::FileKind::prices:
          CHECK(check_round_trip(result::cost_fields(), description(file, "prices")) > 0);
          break;
        default: break;
      }
    }
  CHECK(scenarios >= 20);
  CHECK(sweeps >= 5);
  CHECK(studies >= 10);
}

TEST_CASE("a value that is lost or changed on the way is found") {
  const fs::path file = "hardware/catalog/l40s.yaml";
  YamlNode whole = YamlNode::mapping({});
  whole.set("device", description(file, "device"));
  const StructInfo& info = cli::device_file_fields().info();
  const auto found = [&](const std::string& change) {
    Diagnostics diagnostics;
    YamlNode tree = whole, changed = whole;
    apply_override(changed, change, diagnostics);
    return lines(restate(tree, changed, info));
  };
  CHECK(found("device.name=l40s") == "");
  CHECK(found("device.name=l40") == "/device/name: l40s | l40");
  CHECK(found("device.gemm.launch=1 s").starts_with("/device/gemm/launch: "));
  CHECK(found("device.hbm_bandwidth.tag=assumed").starts_with("/device/hbm_bandwidth: "));
  CHECK(found("device.kind=cpu").starts_with("/device: "));
}

}  // namespace llmscape
