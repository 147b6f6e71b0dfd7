// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/description.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "base/catalog.hpp"
#include "workloads/workload.hpp"

namespace llmscape::cli {
namespace {

constexpr std::array<std::string_view, 7> kNames = {"scenario", "device", "workload", "model",
                                                    "trace",    "sweep",  "study"};

}  // namespace

std::string_view name_of(FileKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

FileKind kind_of(const std::filesystem::path& file) {
  const std::filesystem::path extension = file.extension();
  if (extension == ".json") return FileKind::model;
  if (extension != ".yaml" && extension != ".yml") return FileKind::trace;
  Diagnostics ignored;  // whoever reads the file in earnest reports what is wrong with it
  const YamlNode tree = read_yaml_file(file, ignored);
  const YamlNode* schema = tree.find("schema");
  for (const FileKind kind : {FileKind::device, FileKind::workload, FileKind::model, FileKind::sweep, FileKind::study})
    if (schema && schema->text.starts_with(fmt::format("{}/", name_of(kind)))) return kind;
  return FileKind::scenario;
}

const Fields<DeviceFile>& device_file_fields() {
  static const Fields<DeviceFile> fields = [] {
    Fields<DeviceFile> f("device", "one kind of accelerator");
    f.add_family("device", &DeviceFile::device, hardware::devices(), "the kinds of device")
        .preset_from("hardware")
        .required();
    return f;
  }();
  return fields;
}

std::optional<YamlNode> complete_device(YamlNode tree, const run::Catalogs& catalogs, Diagnostics& diagnostics) {
  const StructInfo& info = device_file_fields().info();
  YamlNode file = YamlNode::mapping(tree.where);
  file.set("device", std::move(tree));
  expand_presets(file, info, run::preset_loader(catalogs), diagnostics);
  DeviceFile device;
  if (!device_file_fields().read(device, file, diagnostics)) return std::nullopt;
  fill_defaults(file, info);
  return std::move(*file.find("device"));
}

std::optional<YamlNode> complete_workload(YamlNode tree, Diagnostics& diagnostics) {
  const StructInfo& info = workloads::workload_fields().info();
  YamlNode limited = tree;  // a description leaves it to the scenario when to stop
  if (!limited.find("duration") && !limited.find("requests")) limited.set("requests", YamlNode::scalar("1"));
  spell_out(limited, info);
  workloads::WorkloadConfig config;
  if (!workloads::workload_fields().read(config, limited, diagnostics)) return std::nullopt;
  spell_out(tree, info);
  fill_defaults(tree, info);
  return tree;
}

std::optional<YamlNode> read_description(const std::filesystem::path& file, FileKind kind, Diagnostics& diagnostics) {
  return description_file(file, name_of(kind), diagnostics);
}

}  // namespace llmscape::cli
