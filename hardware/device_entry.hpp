// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/yaml_reader.hpp"

namespace llmscape::hardware {

// The device of that name in a folder of descriptions as a tree, with the presets of its parts laid into it: `dram`
// from the folder's own folder of that name. Nothing after reporting; `where` is the place that names the device.
std::optional<YamlNode> device_entry(const std::filesystem::path& folder, std::string_view name,
                                     const SourceRange& where, Diagnostics& diagnostics);

}  // namespace llmscape::hardware
