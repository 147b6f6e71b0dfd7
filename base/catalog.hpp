// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml_reader.hpp"

namespace llmscape {

// A catalogue is a folder of descriptions, one file NAME.yaml each, that begin with `schema: KIND/1`.

// Names in the folder, sorted; none if it cannot be read.
std::vector<std::string> catalog_names(const std::filesystem::path& folder);

// The description of that name as a tree, without its `schema` key. Nothing after reporting: an unknown name at
// `where`, with the nearest one and the command that lists them all ("llmscape list KINDs").
std::optional<YamlNode> catalog_entry(const std::filesystem::path& folder, std::string_view kind, std::string_view name,
                                      const SourceRange& where, Diagnostics& diagnostics);

// The description in that file, likewise. Nothing after reporting.
std::optional<YamlNode> description_file(const std::filesystem::path& file, std::string_view kind,
                                         Diagnostics& diagnostics);

}  // namespace llmscape
