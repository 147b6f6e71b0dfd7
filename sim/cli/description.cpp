// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/description.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/catalog.hpp"
#include "base/files.hpp"
#include "hardware/dram.hpp"
#include "hardware/fabric.hpp"
#include "hardware/link.hpp"
#include "hardware/memory_tier.hpp"
#include "hardware/retrieval/host.hpp"
#include "workloads/workload.hpp"

namespace llmscape::cli {
namespace {

constexpr std::array<std::string_view, 15> kNames = {"scenario", "device", "workload", "model",          "trace",
                                                     "sweep",    "study",  "rows",     "host_constants", "dram",
                                                     "host",     "link",   "node",     "tier",           "prices"};
// Those that say in `schema` what they are; other YAML counts as a scenario.
constexpr std::array kTold = {FileKind::device, FileKind::workload, FileKind::model,          FileKind::sweep,
                              FileKind::study,  FileKind::rows,     FileKind::host_constants, FileKind::dram,
                              FileKind::host,   FileKind::link,     FileKind::node,           FileKind::tier,
                              FileKind::prices};

// Whether a file of any name (a pipe has none) is a description: its first line that says something is its schema.
bool says_schema(const std::filesystem::path& file) {
  LineReader lines(file);
  while (const auto line = lines.next())
    if (!line->empty() && !line->starts_with('#')) return line->starts_with("schema:");
  return false;
}

template <class T>
std::optional<YamlNode> completed(const Fields<T>& fields, YamlNode tree, Diagnostics& diagnostics) {
  T read;
  if (!fields.read(read, tree, diagnostics)) return std::nullopt;
  fill_defaults(tree, fields.info());
  return tree;
}

}  // namespace

std::string_view name_of(FileKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

FileKind kind_of(const std::filesystem::path& file) {
  const std::filesystem::path extension = file.extension();
  if (extension != ".yaml" && extension != ".yml" && extension != ".json" && !says_schema(file)) return FileKind::trace;
  Diagnostics ignored;  // whoever reads the file in earnest reports what is wrong with it
  const YamlNode tree = read_yaml_file(file, ignored);
  const YamlNode* schema = tree.find("schema");
  if (extension == ".json" && !schema) return FileKind::model;
  for (const FileKind kind : kTold)
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

std::optional<YamlNode> complete_device(YamlNode tree, const scenario::Catalogs& catalogs, Diagnostics& diagnostics) {
  const StructInfo& info = device_file_fields().info();
  YamlNode file = YamlNode::mapping(tree.where);
  const auto& source = tree.where.source;
  const std::filesystem::path folder = source ? std::filesystem::path(source->name).parent_path() : "";
  file.set("device", std::move(tree));
  expand_presets(file, info, scenario::preset_loader(catalogs, folder), diagnostics);
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

std::optional<YamlNode> complete_part(YamlNode tree, FileKind kind, Diagnostics& diagnostics) {
  switch (kind) {
    case FileKind::dram: return completed(hardware::dram_fields(), std::move(tree), diagnostics);
    case FileKind::host: return completed(hardware::retrieval_host_fields(), std::move(tree), diagnostics);
    case FileKind::link: return completed(hardware::link_fields(), std::move(tree), diagnostics);
    case FileKind::node: return completed(hardware::node_fields(), std::move(tree), diagnostics);
    case FileKind::tier: return completed(hardware::memory_tier_fields(), std::move(tree), diagnostics);
    case FileKind::prices: return completed(result::cost_fields(), std::move(tree), diagnostics);
    default: throw std::logic_error(fmt::format("a {} is no part", name_of(kind)));
  }
}

std::optional<YamlNode> read_description(const std::filesystem::path& file, FileKind kind, Diagnostics& diagnostics) {
  return description_file(file, name_of(kind), diagnostics);
}

}  // namespace llmscape::cli
