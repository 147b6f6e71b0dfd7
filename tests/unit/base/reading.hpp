// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/yaml_reader.hpp"

namespace llmscape::test {

inline YamlNode read(const std::string& text, Diagnostics& diagnostics, const std::string& name = "a.yaml") {
  return read_yaml(std::make_shared<const SourceText>(SourceText{name, text}), diagnostics);
}

// A text that is known to be good.
inline YamlNode tree(const std::string& text) {
  Diagnostics none;
  YamlNode out = read(text, none);
  if (none.has_errors()) throw std::logic_error(none.text(false));
  return out;
}

// Each message in file order as "line:column message; suggestion".
inline std::vector<std::string> messages(const Diagnostics& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics.sorted())
    out.push_back(std::to_string(d.where.line) + ':' + std::to_string(d.where.column) + ' ' + d.message +
                  (d.suggestion.empty() ? "" : "; " + d.suggestion));
  return out;
}

}  // namespace llmscape::test
