// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape::hardware {

// Names of the devices described in `folder`, one file NAME.yaml each, sorted.
std::vector<std::string> device_names(const std::filesystem::path& folder);

// The description of a device as a tree, ready for devices().read(): its `schema` is checked and taken away. Nothing
// after reporting: an unknown name, at `where`, with the nearest one and how to list them all.
std::optional<YamlNode> load_device_tree(const std::filesystem::path& folder, std::string_view name,
                                         const SourceRange& where, Diagnostics& diagnostics);

}  // namespace llmscape::hardware
