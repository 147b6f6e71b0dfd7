// SPDX-License-Identifier: Apache-2.0
#include "traces/record_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace llmscape::traces {

std::optional<YamlNode> take_mapping(YamlNode& root, std::string_view key, Diagnostics& diagnostics) {
  const YamlNode* found = root.find(key);
  if (!found || !found->is_mapping()) {
    diagnostics.error(found ? found->where : root.where, fmt::format("'{}' must be given as a mapping", key));
    root.erase(key);
    return std::nullopt;
  }
  YamlNode taken = *found;
  root.erase(key);
  return taken;
}

std::map<std::string, std::string> take_context(YamlNode& root, Diagnostics& diagnostics) {
  std::map<std::string, std::string> context;
  const auto node = take_mapping(root, "context", diagnostics);
  if (!node) return context;
  for (const YamlNode::Entry& entry : node->entries) {
    if (!entry.value.is_scalar())
      diagnostics.error(entry.value.where, fmt::format("{} of the context must be a text", in_quotes(entry.key)));
    context[entry.key] = entry.value.text;
  }
  return context;
}

std::string list_of_lines(const std::vector<std::string>& entries) {
  return entries.empty() ? "[]" : fmt::format("[\n    {}\n  ]", fmt::join(entries, ",\n    "));
}

}  // namespace llmscape::traces
