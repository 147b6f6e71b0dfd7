// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace llmscape {

// A scalar as it is written in YAML: quoted if it must be to stay the same text.
std::string yaml_scalar(std::string_view text, bool quoted = false);

// The tree on one line, in flow style: "[{preset: l4, count: 2}]".
std::string yaml_flow(const YamlNode& node);

// One line of a tree written as YAML, and the value that stands at its end; nullptr where a block opens.
struct YamlLine {
  std::string text;
  const YamlNode* value = nullptr;
};

// The lines of the tree in block style. Containers of scalars stand on one line where they fit into `width` columns:
// sequences always, mappings if asked for.
std::vector<YamlLine> yaml_lines(const YamlNode& node, bool mappings_on_one_line, std::size_t width = 100);

}  // namespace llmscape
