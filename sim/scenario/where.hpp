// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <string_view>

#include "base/yaml_reader.hpp"

namespace llmscape::scenario {

// The value of a key of the tree, or the tree itself: where to point when a check over the whole fails.
inline SourceRange where_of(const YamlNode& root, std::initializer_list<std::string_view> path) {
  const YamlNode* node = &root;
  for (const std::string_view key : path) {
    const YamlNode* below = node->find(key);
    if (!below || !below->where.source) break;
    node = below;
  }
  return node->where;
}

}  // namespace llmscape::scenario
