// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_reader.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace llmscape {

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &found->value;
}

YamlNode* YamlNode::find(std::string_view key) { return const_cast<YamlNode*>(std::as_const(*this).find(key)); }

YamlNode& YamlNode::set(std::string_view key, YamlNode value) {
  if (YamlNode* present = find(key)) return *present = std::move(value);
  kind = Kind::mapping;
  SourceRange where_key = value.where;
  return entries.emplace_back(Entry{std::string(key), std::move(where_key), std::move(value)}).value;
}

void YamlNode::erase(std::string_view key) {
  std::erase_if(entries, [&](const Entry& entry) { return entry.key == key; });
}

YamlNode YamlNode::scalar(std::string text, bool quoted) {
  YamlNode node;
  node.kind = Kind::scalar;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

YamlNode YamlNode::mapping(SourceRange where) {
  YamlNode node;
  node.kind = Kind::mapping;
  node.where = std::move(where);
  return node;
}

YamlNode merge(YamlNode base, const YamlNode& over) {
  if (!base.is_mapping() || !over.is_mapping()) return over;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < base.entries.size(); ++i) places.emplace(base.entries[i].key, i);
  for (const auto& entry : over.entries) {
    const auto [place, is_new] = places.emplace(entry.key, base.entries.size());
    if (is_new) {
      base.entries.push_back(entry);
    } else {
      YamlNode::Entry& present = base.entries[place->second];
      present.value = merge(std::move(present.value), entry.value);
      present.key_where = entry.key_where;
    }
  }
  base.where = over.where;
  base.origin = over.origin;
  return base;
}

}  // namespace llmscape
