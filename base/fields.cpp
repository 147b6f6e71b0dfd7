// SPDX-License-Identifier: Apache-2.0
#include "base/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace llmscape {

const FieldInfo* StructInfo::find(std::string_view key) const {
  const auto found = std::ranges::find(fields, key, &FieldInfo::key);
  return found == fields.end() ? nullptr : &*found;
}

YamlNode default_of(const FieldInfo& info) {
  static std::map<std::pair<std::string, std::string>, YamlNode> known;  // there are as many as rows of field tables
  std::pair<std::string, std::string> asked(info.key, *info.default_text);
  if (const auto found = known.find(asked); found != known.end()) return found->second;
  Diagnostics mistakes;
  const SourceText text{fmt::format("default of '{}'", info.key), *info.default_text};
  YamlNode node = read_yaml(std::make_shared<const SourceText>(text), mistakes);
  if (mistakes.has_errors()) throw std::logic_error(mistakes.text(false));
  return known.emplace(std::move(asked), std::move(node)).first->second;
}

namespace detail {
namespace {

template <class Range, class Projection>
std::vector<std::string> names_in(const Range& range, Projection projection) {
  std::vector<std::string> out;
  std::ranges::transform(range, std::back_inserter(out), projection);
  return out;
}

// "device 'gpu0'", or "device" for one without a name.
std::string title(const YamlNode& node, const std::string& kind) {
  const YamlNode* name = node.find("name");
  return name && name->is_scalar() ? fmt::format("{} {}", kind, in_quotes(name->text)) : kind;
}

}  // namespace

bool read_struct(void* object, const YamlNode& node, const StructInfo& info,
                 const std::vector<std::shared_ptr<const FieldAccess>>& access, Diagnostics& diagnostics) {
  const int before = diagnostics.errors();
  if (!node.is_mapping()) {
    report_not(node, info.name, "a mapping", diagnostics);
    return false;
  }
  const std::vector<std::string> keys = names_in(info.fields, &FieldInfo::key);
  std::string titled;  // once for all unknown keys: a file may have thousands
  for (const auto& entry : node.entries) {
    if (const FieldInfo* field = info.find(entry.key)) {
      access[static_cast<std::size_t>(field - info.fields.data())]->read(object, entry.value, *field, diagnostics);
      continue;
    }
    if (titled.empty()) titled = title(node, info.name);
    const std::string meant = did_you_mean(entry.key, keys);
    auto& error =
        diagnostics.error(entry.key_where, fmt::format("unknown key {} in {}", in_quotes(entry.key), titled), meant);
    if (meant.empty()) error.notes.push_back(fmt::format("{} has {}", info.name, fmt::join(keys, ", ")));
  }
  for (std::size_t i = 0; i < info.fields.size(); ++i) {
    const FieldInfo& field = info.fields[i];
    if (node.find(field.key)) continue;
    if (field.required) {
      diagnostics.error(node.where, fmt::format("'{}' is required: {}", field.key, field.text));
    } else if (field.default_text && (field.family || (field.group && !field.list && !field.map))) {
      YamlNode absent = default_of(field);
      absent.where = node.where;  // what the default lacks is missing here
      access[i]->read(object, absent, field, diagnostics);
    }
  }
  return diagnostics.errors() == before;
}

const FamilyInfo::Member* read_tag(const YamlNode& node, const FamilyInfo& family, Diagnostics& diagnostics) {
  const std::vector<std::string> names = names_in(family.members, &FamilyInfo::Member::name);
  const std::string choices = fmt::format("{}", fmt::join(names, ", "));
  const YamlNode* tag = node.is_mapping() ? node.find(family.tag) : &node;
  if (!tag) {
    std::vector<std::string> fitting;  // kinds that have every key given
    for (const auto& member : family.members)
      if (std::ranges::all_of(node.entries, [&](const auto& entry) { return member.info->find(entry.key); }))
        fitting.push_back(member.name);
    diagnostics.error(node.where, fmt::format("'{}' is required in {}: one of {}", family.tag, family.name, choices),
                      fitting.size() == 1 ? fmt::format("add '{}: {}'", family.tag, fitting.front()) : "");
    return nullptr;
  }
  if (!tag->is_scalar()) {
    report_not(*tag, fmt::format("'{}' of {}", family.tag, family.name), "one of " + choices, diagnostics);
    return nullptr;
  }
  const auto found = std::ranges::find(family.members, tag->text, &FamilyInfo::Member::name);
  if (found != family.members.end()) return &*found;
  diagnostics.error(
      tag->where,
      fmt::format("'{}' of {} must be one of {}; got {}", family.tag, family.name, choices, in_quotes(tag->text)),
      did_you_mean(tag->text, names));
  return nullptr;
}

YamlNode without_tag(const YamlNode& node, const FamilyInfo& family) {
  if (!node.is_mapping()) return YamlNode::mapping(node.where);
  YamlNode out = node;
  out.erase(family.tag);
  return out;
}

}  // namespace detail
}  // namespace llmscape
