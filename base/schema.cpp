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

// Fields without a kind belong to the kind that is read when the key is absent: its tag, or nothing where the value
// says its kind or has to.
std::optional<YamlNode> usual_tag(const YamlNode& value, const FieldInfo& field) {
  if (!field.family || !field.default_text || field.list || !value.is_mapping() || value.find(field.family->tag) ||
      value.find("preset"))
    return std::nullopt;
  YamlNode otherwise = default_of(field);
  return otherwise.is_mapping() ? *otherwise.find(field.family->tag) : std::move(otherwise);
}

// The fields of a value of `field`; nullptr for scalars and for kinds that do not exist.
const StructInfo* struct_of(const YamlNode& value, const FieldInfo& field) {
  if (field.group) return field.group;
  if (!field.family) return nullptr;
  const std::optional<YamlNode> usual = usual_tag(value, field);
  const YamlNode* tag = usual ? &*usual : value.find(field.family->tag);
  if (!tag) return nullptr;
  const auto found = std::ranges::find(field.family->members, tag->text, &FamilyInfo::Member::name);
  return found == field.family->members.end() ? nullptr : found->info;
}

// Calls `prepare` on each value of every field of the struct that is no plain number or word, then does the same one
// level down where it says so. Lists of numbers stay shared with other copies of the tree.
template <class Prepare>
void walk(YamlNode& node, const StructInfo& info, const Prepare& prepare) {
  for (const FieldInfo& field : info.fields) {
    if (!field.group && !field.family && field.catalog.empty()) continue;
    YamlNode* present = node.find(field.key);
    if (!present) continue;
    each_value(*present, field, [&](YamlNode& value) {
      if (!prepare(value, field)) return;
      if (const StructInfo* inner = struct_of(value, field)) walk(value, *inner, prepare);
    });
  }
}

void write_tag(YamlNode& value, const FieldInfo& field) {
  std::optional<YamlNode> tag = usual_tag(value, field);
  if (!tag) return;
  tag->origin = "default";
  value.set(field.family->tag, *std::move(tag));
}

void spell_out_value(YamlNode& value, const FieldInfo& field) {
  if (!value.is_scalar() || (!field.family && field.catalog.empty())) return;
  YamlNode mapping = YamlNode::mapping(value.where);
  mapping.origin = value.origin;
  mapping.set(field.catalog.empty() ? field.family->tag : "preset", std::move(value));
  value = std::move(mapping);
}

// Marks a tree as read from a preset.
class Stamp {
 public:
  Stamp(std::string origin, std::string note) : origin_(std::move(origin)), note_(std::move(note)) {}

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

// Does to a value what was done to the same one before, or else `pass`, which says whether that depends on the value
// alone.
template <class Pass>
void once(YamlNode& value, const FieldInfo& field, Recent<TreeMemory::Value, YamlNode, TreeMemory::kMost>& known,
          const Pass& pass) {
  const YamlNode* after =
      known.find([&](const TreeMemory::Value& before) { return before.field == &field && same(before.tree, value); });
  if (after) {
    value = *after;
    return;
  }
  TreeMemory::Value before{&field, value};
  if (pass(value)) known.keep(std::move(before), value);
}

// The entry as it was read from a preset that was asked for at `asked`.
YamlNode stamped(YamlNode entry, std::string origin, const SourceRange& asked, TreeMemory* memory) {
  std::string note = "included from " + place_of(asked);
  if (!memory) {
    Stamp(std::move(origin), std::move(note)).put_on(entry);
    return entry;
  }
  TreeMemory::Preset preset{entry, std::move(origin), std::move(note)};
  const YamlNode* known = memory->stamped.find([&](const TreeMemory::Preset& before) {
    return before.origin == preset.origin && before.note == preset.note && same(before.entry, preset.entry);
  });
  if (known) return *known;
  Stamp(preset.origin, preset.note).put_on(entry);
  memory->stamped.keep(std::move(preset), entry);
  return entry;
}

// What `preset: NAME` names: a file that a preset names starts from that preset's, any other from wherever `load`
// looks.
std::string name_of_preset(const YamlNode& preset) {
  const auto folder = folder_of_preset(preset);
  return folder && preset.text.ends_with(".yaml") ? std::filesystem::absolute(*folder / preset.text).string()
                                                  : preset.text;
}

// Values {value, tag, source} that are written empty, laid over a preset's: they would change nothing. `whole`: what
// became of it all.
void refuse_empty(const YamlNode& laid, const YamlNode& whole, const StructInfo& info, Diagnostics& diagnostics) {
  for (const FieldInfo& field : info.fields) {
    const YamlNode* own = laid.find(field.key);
    const YamlNode* merged = whole.find(field.key);
    if (!own || !merged || !own->is_mapping() || field.list || field.map) continue;
    const bool known = !merged->is_mapping() || !merged->entries.empty();  // else its reader says what is missing
    if (field.sourced && own->entries.empty() && known)
      diagnostics.error(own->where, fmt::format("'{}' is empty", field.key), "give it a value, or leave it out");
    if (const StructInfo* inner = struct_of(*merged, field)) refuse_empty(*own, *merged, *inner, diagnostics);
  }
}

// Replaces `preset` of the mapping by what it names; a preset may start from another one. Whether there was one.
bool resolve_preset(YamlNode& value, const FieldInfo& field, const PresetLoader& load, Diagnostics& diagnostics,
                    const PresetAdapter& adapt, TreeMemory* memory) {
  std::vector<std::string> chain;
  const YamlNode laid = value.find("preset") ? value : YamlNode();
  while (const YamlNode* named = std::as_const(value).find("preset")) {
    const YamlNode preset = *named;
    const auto fail = [&] {
      value.kind = YamlNode::Kind::invalid;
      return true;
    };
    if (!preset.is_scalar()) {
      detail::report_not(preset, "'preset'", fmt::format("a name from the catalogue {}", field.catalog), diagnostics);
      return fail();
    }
    const std::string name = name_of_preset(preset);
    if (std::ranges::find(chain, name) != chain.end()) {
      diagnostics.error(preset.where, fmt::format("preset {} starts from itself", in_quotes(preset.text)));
      return fail();
    }
    chain.push_back(name);
    auto entry = load(field.catalog, name, preset.where, diagnostics);
    if (!entry) return fail();
    entry = stamped(*std::move(entry), fmt::format("preset {}/{}", field.catalog, preset.text), preset.where, memory);
    value.erase("preset");
    value = merge(*entry, value);
    if (adapt) adapt(field.catalog, value, *entry);
  }
  if (!chain.empty())
    if (const StructInfo* info = struct_of(value, field)) refuse_empty(laid, value, *info, diagnostics);
  return !chain.empty();
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

std::optional<std::filesystem::path> folder_of_preset(const YamlNode& value) {
  const auto& source = value.where.source;
  if (!value.origin.starts_with("preset ") || !source) return std::nullopt;
  return std::filesystem::path(source->name).parent_path();
}

void spell_out_scalars(YamlNode& node, const StructInfo& info) {
  walk(node, info, [](YamlNode& value, const FieldInfo& field) {
    spell_out_value(value, field);
    return true;
  });
}

void spell_out(YamlNode& node, const StructInfo& info) {
  walk(node, info, [](YamlNode& value, const FieldInfo& field) {
    write_tag(value, field);
    spell_out_value(value, field);
    return true;
  });
}

void expand_presets(YamlNode& node, const StructInfo& info, const PresetLoader& load, Diagnostics& diagnostics,
                    const PresetAdapter& adapt, TreeMemory* memory) {
  int presets = 0;
  const std::function<bool(YamlNode&, const FieldInfo&)> expand = [&](YamlNode& value, const FieldInfo& field) {
    write_tag(value, field);
    spell_out_value(value, field);
    if (field.catalog.empty()) return true;
    if (resolve_preset(value, field, load, diagnostics, adapt, memory)) ++presets;
    if (!memory) return true;
    once(value, field, memory->expanded, [&](YamlNode& whole) {
      const int before = presets;
      if (const StructInfo* inner = struct_of(whole, field)) walk(whole, *inner, expand);
      return presets == before;  // what others are named inside may be in files that change
    });
    return false;
  };
  walk(node, info, expand);
}

void fill_defaults(YamlNode& node, const StructInfo& info, TreeMemory* memory) {
  const std::function<bool(YamlNode&, const FieldInfo&)> add = [&](YamlNode& value, const FieldInfo& field) {
    const auto add_to = [&](YamlNode& whole) {
      write_tag(whole, field);
      spell_out_value(whole, field);
      const StructInfo* inner = struct_of(whole, field);
      if (inner && whole.is_mapping()) fill(whole, *inner);
      if (inner) walk(whole, *inner, add);
      return true;
    };
    if (memory && !field.catalog.empty()) once(value, field, memory->filled, add_to);
    else add_to(value);
    return false;
  };
  if (node.kind == YamlNode::Kind::null) node.kind = YamlNode::Kind::mapping;
  fill(node, info);
  walk(node, info, add);
}

}  // namespace llmscape
