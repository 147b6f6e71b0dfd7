// SPDX-License-Identifier: Apache-2.0
#include "base/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/opened_files.hpp"

namespace llmscape {

namespace {

// Descriptions without a mistake as they were parsed, and the state of the file then: a batch of scenarios names the
// same entries again and again, and those with measured corrections have thousands of lines.
struct Parsed {
  std::filesystem::file_time_type written;
  std::uintmax_t bytes = 0;
  YamlNode tree;
};

YamlNode parsed_file(const std::filesystem::path& file, Diagnostics& diagnostics) {
  static std::map<std::filesystem::path, Parsed> known;
  std::error_code absent;
  const auto written = std::filesystem::last_write_time(file, absent);
  const std::uintmax_t bytes = absent ? 0 : std::filesystem::file_size(file, absent);
  if (absent) return read_yaml_file(file, diagnostics);
  const auto found = known.find(file);
  if (found != known.end() && found->second.written == written && found->second.bytes == bytes) {
    note_opened(file);
    return found->second.tree;
  }
  const int errors = diagnostics.errors();
  YamlNode tree = read_yaml_file(file, diagnostics);
  if (diagnostics.errors() == errors) known.insert_or_assign(file, Parsed{written, bytes, tree});
  return tree;
}

}  // namespace

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
  YamlNode tree = parsed_file(file, diagnostics);
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
