// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the JSON records of our own runs share.
namespace llmscape::traces {

// Takes the mapping under `key` out of `root`; nothing after reporting that there is none.
std::optional<YamlNode> take_mapping(YamlNode& root, std::string_view key, Diagnostics& diagnostics);

// Takes the mapping `context`, whose keys are free and whose values are texts, out of `root`.
std::map<std::string, std::string> take_context(YamlNode& root, Diagnostics& diagnostics);

// A JSON list with each of its entries on a line of its own, indented as a member of the root.
std::string list_of_lines(const std::vector<std::string>& entries);

}  // namespace llmscape::traces
