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

// The same of what `text_of` makes of each.
template <class Entries, class TextOf>
std::string list_of_lines(const Entries& entries, const TextOf& text_of) {
  std::vector<std::string> lines;
  for (const auto& entry : entries) lines.push_back(text_of(entry));
  return list_of_lines(lines);
}

}  // namespace llmscape::traces
