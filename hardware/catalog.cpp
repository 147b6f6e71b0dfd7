// SPDX-License-Identifier: Apache-2.0
#include "hardware/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmscape::hardware {
namespace {

constexpr std::string_view kSchema = "device/1";

}  // namespace

std::vector<std::string> device_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code unreadable;  // a folder that cannot be read has no devices
  for (const auto& file : std::filesystem::directory_iterator(folder, unreadable))
    if (file.path().extension() == ".yaml") names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<YamlNode> load_device_tree(const std::filesystem::path& folder, std::string_view name,
                                         const SourceRange& where, Diagnostics& diagnostics) {
  const std::vector<std::string> names = device_names(folder);
  if (!std::binary_search(names.begin(), names.end(), name)) {
    const std::string near = did_you_mean(name, names);
    diagnostics.error(where, fmt::format("no device '{}' in the catalogue", name),
                      near.empty() ? "see 'llmscape list devices'" : near + " See 'llmscape list devices'.");
    return std::nullopt;
  }
  const int errors = diagnostics.errors();
  YamlNode tree = read_yaml_file(folder / fmt::format("{}.yaml", name), diagnostics);
  if (diagnostics.errors() > errors) return std::nullopt;
  const YamlNode* schema = tree.find("schema");
  if (!schema || schema->text != kSchema) {
    diagnostics.error(schema ? schema->where : tree.where,
                      fmt::format("a device description needs 'schema: {}'", kSchema));
    return std::nullopt;
  }
  tree.erase("schema");
  return tree;
}

}  // namespace llmscape::hardware
