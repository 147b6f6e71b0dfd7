// SPDX-License-Identifier: Apache-2.0
// Every description that is shipped, read into structs and written from them again, says the same.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "base/schema.hpp"
#include "base/yaml_lines.hpp"
#include "hardware/dram.hpp"
#include "hardware/fabric.hpp"
#include "hardware/link.hpp"
#include "hardware/memory_tier.hpp"
#include "hardware/retrieval/host.hpp"
#include "models/native.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/description.hpp"
#include "sim/explore/plan_config.hpp"
#include "sim/studies/study_config.hpp"
#include "workloads/workload.hpp"

namespace llmscape {
namespace {

namespace fs = std::filesystem;

bool same_number(const std::string& a, const std::string& b, Dimension dimension) {
  const auto left = parse_quantity(a, dimension), right = parse_quantity(b, dimension);
  const auto* one = std::get_if<double>(&left);
  const auto* other = std::get_if<double>(&right);
  return one && other && *one == *other;
}

// Compares complete trees field by field; quantities may be in another unit. Differences as lines.
class Differences {
 public:
  void in_struct(const YamlNode& a, const YamlNode& b, const StructInfo& info, const std::string& place) {
    for (const FieldInfo& field : info.fields) {
      const YamlNode *left = a.find(field.key), *right = b.find(field.key);
      const std::string inner = place + '/' + field.key;
      if (!left && !right) continue;
      if (!left || !right) add(inner, left, right);
      else in_field(*left, *right, field, inner);
    }
  }
  std::string text;
  int values = 0;  // compared

 private:
  void add(const std::string& place, const YamlNode* left, const YamlNode* right) {
    text += fmt::format("{}: {} | {}\n", place, left ? yaml_flow(*left) : "-", right ? yaml_flow(*right) : "-");
  }

  void in_field(const YamlNode& a, const YamlNode& b, const FieldInfo& field, const std::string& place) {
    if (field.kind == ValueKind::any) return in_value(a, b, field, place);
    if (a.items.size() != b.items.size() || (field.map && a.entries.size() != b.entries.size()))
      return add(place, &a, &b);
    if (field.list) {
      for (std::size_t i = 0; i < a.items.size(); ++i)
        in_value(a.items[i], b.items[i], field, fmt::format("{}[{}]", place, i));
    } else if (field.map) {
      for (const auto& entry : a.entries) {
        const YamlNode* other = b.find(entry.key);
        if (other) in_value(entry.value, *other, field, place + '/' + entry.key);
        else add(place, &a, &b);
      }
    } else {
      in_value(a, b, field, place);
    }
  }

  void in_value(const YamlNode& a, const YamlNode& b, const FieldInfo& field, const std::string& place) {
    if (field.group) return in_struct(a, b, *field.group, place);
    if (field.family) return in_kind(a, b, *field.family, place);
    ++values;
    if (field.sourced && (a.is_mapping() || b.is_mapping())) return in_sourced(a, b, field, place);
    const bool number =
        field.kind == ValueKind::quantity || field.kind == ValueKind::number || field.kind == ValueKind::integer;
    const bool same = number                         ? same_number(a.text, b.text, field.dimension)
                      : field.kind == ValueKind::any ? yaml_flow(a) == yaml_flow(b)
                                                     : a.text == b.text;
    if (!same) add(place, &a, &b);
  }

  void in_sourced(const YamlNode& a, const YamlNode& b, const FieldInfo& field, const std::string& place) {
    const auto part = [](const YamlNode& node, const char* key, const std::string& otherwise) {
      const YamlNode* found = node.find(key);
      return found ? found->text : otherwise;
    };
    const YamlNode &left = a.is_mapping() ? *a.find("value") : a, &right = b.is_mapping() ? *b.find("value") : b;
    FieldInfo bare = field;
    bare.sourced = false;
    in_value(left, right, bare, place);
    if (part(a, "tag", "assumed") != part(b, "tag", "assumed") || part(a, "source", "") != part(b, "source", ""))
      add(place, &a, &b);
  }

  void in_kind(const YamlNode& a, const YamlNode& b, const FamilyInfo& family, const std::string& place) {
    const YamlNode *left = a.find(family.tag), *right = b.find(family.tag);
    if (!left || !right || left->text != right->text) return add(place, &a, &b);
    const auto kind = std::ranges::find(family.members, left->text, &FamilyInfo::Member::name);
    REQUIRE(kind != family.members.end());
    in_struct(a, b, *kind->info, place);
  }
};

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
  fill_defaults(again, fields.info());
  Differences differences;
  differences.in_struct(tree, again, fields.info(), fields.info().name);
  CHECK(differences.text == "");
  return differences.values;
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
    YamlNode changed = whole;
    apply_override(changed, change, diagnostics);
    Differences differences;
    differences.in_struct(whole, changed, info, "");
    return differences.text;
  };
  CHECK(found("device.name=l40s") == "");
  CHECK(found("device.name=l40") == "/device/name: l40s | l40\n");
  CHECK(found("device.gemm.launch=1 s").starts_with("/device/gemm/launch: "));
  CHECK(found("device.hbm_bandwidth.tag=assumed").starts_with("/device/hbm_bandwidth: "));
  CHECK(found("device.kind=cpu").starts_with("/device: "));
}

}  // namespace llmscape
