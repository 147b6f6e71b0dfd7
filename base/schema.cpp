// SPDX-License-Identifier: Apache-2.0
#include "base/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace llmscape {
namespace {

// Calls `visit` for each value of the field: the items of a list, the values of a map, or the node itself.
template <class Visit>
void each_value(YamlNode& node, const FieldInfo& field, Visit visit) {
  if (field.list) {
    for (YamlNode& item : node.items) visit(item);
  } else if (field.map) {
    for (auto& entry : node.entries) visit(entry.value);
  } else {
    visit(node);
  }
}

// The fields of a value of `field`; nullptr for scalars and for kinds that do not exist.
const StructInfo* struct_of(const YamlNode& value, const FieldInfo& field) {
  if (field.group) return field.group;
  if (!field.family) return nullptr;
  const YamlNode* tag = value.find(field.family->tag);
  if (!tag) return nullptr;
  const auto found = std::ranges::find(field.family->members, tag->text, &FamilyInfo::Member::name);
  return found == field.family->members.end() ? nullptr : found->info;
}

// Calls `prepare` on each value of every field of the struct, then does the same one level down.
template <class Prepare>
void walk(YamlNode& node, const StructInfo& info, const Prepare& prepare) {
  for (const FieldInfo& field : info.fields) {
    YamlNode* present = node.find(field.key);
    if (!present) continue;
    each_value(*present, field, [&](YamlNode& value) {
      prepare(value, field);
      if (const StructInfo* inner = struct_of(value, field)) walk(value, *inner, prepare);
    });
  }
}

void spell_out_value(YamlNode& value, const FieldInfo& field) {
  // Fields without a kind belong to the kind that is read when the key is absent.
  if (field.family && field.default_text && !field.list && value.is_mapping() && !value.find(field.family->tag) &&
      !value.find("preset")) {
    YamlNode otherwise = default_of(field);
    YamlNode tag = otherwise.is_mapping() ? *otherwise.find(field.family->tag) : std::move(otherwise);
    tag.origin = "default";
    value.set(field.family->tag, std::move(tag));
    return;
  }
  if (!value.is_scalar() || (!field.family && field.catalog.empty())) return;
  YamlNode mapping = YamlNode::mapping(value.where);
  mapping.origin = value.origin;
  mapping.set(field.catalog.empty() ? field.family->tag : "preset", std::move(value));
  value = std::move(mapping);
}

// Marks a tree as read from a preset that was asked for at `asked`.
class Stamp {
 public:
  Stamp(std::string origin, const SourceRange& asked)
      : origin_(std::move(origin)), note_("included from " + place_of(asked)) {}

  void put_on(YamlNode& node) {
    if (node.origin.empty()) node.origin = origin_;
    put_on(node.where);
    for (YamlNode& item : node.items) put_on(item);
    for (auto& entry : node.entries) {
      put_on(entry.key_where);
      put_on(entry.value);
    }
  }

 private:
  void put_on(SourceRange& where) {
    if (!where.source) return;
    auto& copy = copies_[where.source.get()];
    if (!copy) {
      SourceText noted = *where.source;
      noted.note = note_;
      copy = std::make_shared<const SourceText>(std::move(noted));
    }
    where.source = copy;
  }

  std::string origin_, note_;
  std::map<const SourceText*, std::shared_ptr<const SourceText>> copies_;
};

// Replaces `preset` of the mapping by what it names; a preset may start from another one.
void resolve_preset(YamlNode& value, const FieldInfo& field, const PresetLoader& load, Diagnostics& diagnostics,
                    const PresetAdapter& adapt) {
  std::vector<std::string> chain;
  while (const YamlNode* named = value.find("preset")) {
    const YamlNode preset = *named;
    const auto fail = [&] { value.kind = YamlNode::Kind::invalid; };
    if (!preset.is_scalar()) {
      detail::report_not(preset, "'preset'", fmt::format("a name from the catalogue {}", field.catalog), diagnostics);
      return fail();
    }
    if (std::ranges::find(chain, preset.text) != chain.end()) {
      diagnostics.error(preset.where, fmt::format("preset {} starts from itself", in_quotes(preset.text)));
      return fail();
    }
    chain.push_back(preset.text);
    auto entry = load(field.catalog, preset.text, preset.where, diagnostics);
    if (!entry) return fail();
    Stamp(fmt::format("preset {}/{}", field.catalog, preset.text), preset.where).put_on(*entry);
    value.erase("preset");
    value = merge(*entry, value);
    if (adapt) adapt(field.catalog, value, *entry);
  }
}

// Gives every node of a default its origin.
void mark_default(YamlNode& node) {
  node.origin = "default";
  for (YamlNode& item : node.items) mark_default(item);
  for (auto& entry : node.entries) mark_default(entry.value);
}

// Adds the defaults of one mapping and puts its keys in the order of the field table; keys without a field come first.
void fill(YamlNode& node, const StructInfo& info) {
  for (const FieldInfo& field : info.fields) {
    if (!field.default_text || node.find(field.key)) continue;
    YamlNode value = default_of(field);
    mark_default(value);
    node.set(field.key, std::move(value));
  }
  std::ranges::stable_sort(node.entries, {}, [&](const YamlNode::Entry& entry) {
    const FieldInfo* field = info.find(entry.key);
    return field ? field - info.fields.data() : -1;
  });
}

}  // namespace

void spell_out(YamlNode& node, const StructInfo& info) { walk(node, info, spell_out_value); }

void expand_presets(YamlNode& node, const StructInfo& info, const PresetLoader& load, Diagnostics& diagnostics,
                    const PresetAdapter& adapt) {
  walk(node, info, [&](YamlNode& value, const FieldInfo& field) {
    spell_out_value(value, field);
    if (!field.catalog.empty()) resolve_preset(value, field, load, diagnostics, adapt);
  });
}

void fill_defaults(YamlNode& node, const StructInfo& info) {
  if (node.kind == YamlNode::Kind::null) node.kind = YamlNode::Kind::mapping;
  fill(node, info);
  walk(node, info, [](YamlNode& value, const FieldInfo& field) {
    spell_out_value(value, field);
    const StructInfo* inner = struct_of(value, field);
    if (inner && value.is_mapping()) fill(value, *inner);
  });
}

}  // namespace llmscape
