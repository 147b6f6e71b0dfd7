// SPDX-License-Identifier: Apache-2.0
#include "base/schema.hpp"
#include "base/yaml_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llmscape {
namespace {

bool is_sourced(const YamlNode& node) {
  return node.find("value") && std::ranges::all_of(node.entries, [](const auto& entry) {
           return entry.key == "value" || entry.key == "tag" || entry.key == "source";
         });
}

std::string text_at(const YamlNode& node, std::string_view key) {
  const YamlNode* found = node.find(key);
  return found ? found->text : "";
}

// Turns sourced values into bare ones, and each node's origin into the comment to print behind it.
void label(YamlNode& node) {
  if (node.origin.empty()) node.origin = place_of(node.where);
  if (is_sourced(node)) {
    YamlNode value = *node.find("value");
    value.origin = node.origin;
    const std::string tag = text_at(node, "tag"), source = text_at(node, "source");
    value.origin += fmt::format("{} {}", value.origin.empty() ? "" : ";", tag.empty() ? name_of(Tag::assumed) : tag);
    if (!source.empty()) value.origin += ": " + source;
    node = std::move(value);
  }
  for (YamlNode& item : node.items) label(item);
  for (auto& entry : node.entries) label(entry.value);
}

}  // namespace

std::string annotated(const YamlNode& node) {
  constexpr std::size_t kWidestColumn = 60;  // longer lines push their own comment to the right
  YamlNode labelled = node;
  label(labelled);
  const std::vector<YamlLine> lines = yaml_lines(labelled, false, kWidestColumn);
  std::size_t column = 0;
  for (const YamlLine& line : lines)
    if (line.value && line.text.size() <= kWidestColumn) column = std::max(column, line.text.size());
  std::string out;
  for (const YamlLine& line : lines)
    out += line.value && !line.value->origin.empty()
               ? fmt::format("{:<{}}  # {}\n", line.text, column, line.value->origin)
               : line.text + '\n';
  return out;
}

}  // namespace llmscape
