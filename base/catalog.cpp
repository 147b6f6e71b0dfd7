// SPDX-License-Identifier: Apache-2.0
#include "base/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmscape {

std::vector<std::string> catalog_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code unreadable;
  for (const auto& file : std::filesystem::directory_iterator(folder, unreadable))
    if (file.path().extension() == ".yaml") names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<YamlNode> catalog_entry(const std::filesystem::path& folder, std::string_view kind, std::string_view name,
                                      const SourceRange& where, Diagnostics& diagnostics) {
  // Looked up in the list, so that a name never reaches out of the folder.
  const std::vector<std::string> names = catalog_names(folder);
  if (!std::binary_search(names.begin(), names.end(), name)) {
    const std::string near = did_you_mean(name, names);
    diagnostics.error(where, fmt::format("no {} '{}' in the catalogue", kind, name),
                      fmt::format("{}{}see 'llmscape list {}s'", near, near.empty() ? "" : " ", kind));
    return std::nullopt;
  }
  return description_file(folder / fmt::format("{}.yaml", name), kind, diagnostics);
}

std::optional<YamlNode> description_file(const std::filesystem::path& file, std::string_view kind,
                                         Diagnostics& diagnostics) {
  const int errors = diagnostics.errors();
  YamlNode tree = read_yaml_file(file, diagnostics);
  if (diagnostics.errors() > errors) return std::nullopt;
  const std::string wanted = fmt::format("{}/1", kind);
  const YamlNode* schema = tree.find("schema");
  if (!schema || schema->text != wanted) {
    diagnostics.error(schema ? schema->where : tree.where,
                      fmt::format("the description of a {} begins with 'schema: {}'", kind, wanted));
    return std::nullopt;
  }
  tree.erase("schema");
  return tree;
}

}  // namespace llmscape
