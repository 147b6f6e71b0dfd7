// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"

#include <memory>
#include <stdexcept>
#include <string>

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

// The messages in file order, each a line "line:column message; suggestion".
inline std::string messages(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics.sorted())
    out += (out.empty() ? "" : "\n") + std::to_string(d.where.line) + ':' + std::to_string(d.where.column) + ' ' +
           d.message + (d.suggestion.empty() ? "" : "; " + d.suggestion);
  return out;
}

// Kinds, texts and children; not the places.
inline bool same_values(const YamlNode& a, const YamlNode& b) {
  if (a.kind != b.kind || a.text != b.text || a.items.size() != b.items.size() || a.entries.size() != b.entries.size())
    return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!same_values(a.items[i], b.items[i])) return false;
  for (std::size_t i = 0; i < a.entries.size(); ++i)
    if (a.entries[i].key != b.entries[i].key || !same_values(a.entries[i].value, b.entries[i].value)) return false;
  return true;
}

}  // namespace llmscape::test
