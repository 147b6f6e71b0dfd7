// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/yaml_items.hpp"

namespace llmscape {

namespace {

bool same_text(const SourceText& a, const SourceText& b) {
  return a.name == b.name && a.note == b.note && a.first_line == b.first_line && a.text == b.text;
}

// Compares two trees. Thousands of nodes come from one text, which may be half a megabyte: it is compared once.
class Comparison {
 public:
  bool same(const YamlNode& a, const YamlNode& b) {
    return a.kind == b.kind && a.quoted == b.quoted && a.text == b.text && a.origin == b.origin &&
           same(a.where, b.where) && same_items(a.items, b.items) && same_items(a.entries, b.entries);
  }

 private:
  bool same(const SourceRange& a, const SourceRange& b) {
    if (a.line != b.line || a.column != b.column || a.length != b.length) return false;
    if (a.source == b.source || (a.source.get() == one_ && b.source.get() == other_)) return true;
    if (!a.source || !b.source || !same_text(*a.source, *b.source)) return false;
    one_ = a.source.get();
    other_ = b.source.get();
    return true;
  }
  bool same(const YamlNode::Entry& a, const YamlNode::Entry& b) {
    return a.key == b.key && same(a.key_where, b.key_where) && same(a.value, b.value);
  }
  template <class T>
  bool same_items(const SharedList<T>& a, const SharedList<T>& b) {
    return a.shares(b) || std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                     [this](const T& left, const T& right) { return same(left, right); });
  }

  const SourceText *one_ = nullptr, *other_ = nullptr;  // the last two texts that are the same
};

}  // namespace

bool same(const YamlNode& a, const YamlNode& b) { return Comparison().same(a, b); }

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &found->value;
}

YamlNode* YamlNode::find(std::string_view key) {
  const SharedList<Entry>& here = entries;
  const auto* found = std::ranges::find(here, key, &Entry::key);
  return found == here.end() ? nullptr : &entries[static_cast<std::size_t>(found - here.begin())].value;
}

YamlNode& YamlNode::set(std::string_view key, YamlNode value) {
  if (YamlNode* present = find(key)) return *present = std::move(value);
  kind = Kind::mapping;
  SourceRange where_key = value.where;
  return entries.emplace_back(Entry{std::string(key), std::move(where_key), std::move(value)}).value;
}

void YamlNode::erase(std::string_view key) {
  entries.erase_if([&](const Entry& entry) { return entry.key == key; });
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

namespace {

// Both say what they are of, and it is not the same: none of the keys of one need be among those of the other.
bool of_unlike_kinds(const YamlNode& base, const YamlNode& over) {
  for (const char* key : {"kind", "policy"}) {
    const YamlNode *one = base.find(key), *other = over.find(key);
    if (one && other && one->kind == YamlNode::Kind::scalar && other->kind == YamlNode::Kind::scalar &&
        one->text != other->text)
      return true;
  }
  return false;
}

// Lays what is said of items ("--set ...collectives[0].latency=5us") on the list that a preset brings; false where it
// is no such thing, or the list lacks one of them.
bool lay_on_items(YamlNode& base, const YamlNode& over) {
  if (!base.is_sequence() || !over.is_mapping() || over.entries.empty()) return false;
  std::vector<std::size_t> places;
  for (const auto& entry : std::as_const(over.entries)) {
    const auto place = item_index(base, entry.key);
    if (!place) return false;
    places.push_back(*place);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    YamlNode& item = base.items[places[i]];
    item = merge(std::move(item), std::as_const(over.entries)[i].value);
  }
  return true;
}

}  // namespace

YamlNode merge(YamlNode base, const YamlNode& over) {
  if (lay_on_items(base, over)) return base;
  if (!base.is_mapping() || !over.is_mapping() || of_unlike_kinds(base, over)) return over;
  std::map<std::string, std::size_t> places;
  for (const auto& entry : std::as_const(base.entries)) places.emplace(entry.key, places.size());
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
