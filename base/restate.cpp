// SPDX-License-Identifier: Apache-2.0
#include "base/restate.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/field_access.hpp"
#include "base/yaml_lines.hpp"

namespace llmscape {
namespace {

bool same_number(const std::string& a, const std::string& b, Dimension dimension) {
  const auto left = parse_quantity(a, dimension), right = parse_quantity(b, dimension);
  const auto* one = std::get_if<double>(&left);
  const auto* other = std::get_if<double>(&right);
  return one && other && *one == *other;
}

// Whether two scalars of the field say the same.
bool same_scalar(const YamlNode& a, const YamlNode& b, const FieldInfo& field) {
  switch (field.kind) {
    case ValueKind::quantity:
    case ValueKind::number:
    case ValueKind::integer: return same_number(a.text, b.text, field.dimension);
    default: return a.text == b.text;
  }
}

bool same_sourced(const YamlNode& a, const YamlNode& b, const FieldInfo& field) {
  const auto part = [](const YamlNode& node, const char* key, const std::string& otherwise) {
    const YamlNode* found = node.find(key);
    return found ? found->text : otherwise;
  };
  const YamlNode *left = a.is_mapping() ? a.find("value") : &a, *right = b.is_mapping() ? b.find("value") : &b;
  const std::string assumed(name_of(Tag::assumed));
  return left && right && same_scalar(*left, *right, field) && part(a, "tag", assumed) == part(b, "tag", assumed) &&
         part(a, "source", "") == part(b, "source", "");
}

class Restater {
 public:
  std::vector<std::string> differences;

  void in_struct(YamlNode& tree, const YamlNode& written, const StructInfo& info, const std::string& place) {
    for (const FieldInfo& field : info.fields) {
      YamlNode* has = tree.find(field.key);
      const YamlNode* says = written.find(field.key);
      const std::string inner = place + '/' + field.key;
      if (has && says) {
        in_field(*has, *says, field, inner);
      } else if (has || says) {
        add(inner, has, says);
        if (says) tree.set(field.key, *says);
        else tree.erase(field.key);
      }
    }
  }

 private:
  void add(const std::string& place, const YamlNode* has, const YamlNode* says) {
    differences.push_back(
        fmt::format("{}: {} | {}", place, has ? yaml_flow(*has) : "-", says ? yaml_flow(*says) : "-"));
  }
  void replace(YamlNode& has, const YamlNode& says, const std::string& place) {
    add(place, &has, &says);
    has = says;
  }

  void in_field(YamlNode& has, const YamlNode& says, const FieldInfo& field, const std::string& place) {
    if (field.kind == ValueKind::any) {
      if (yaml_flow(has) != yaml_flow(says)) replace(has, says, place);
      return;
    }
    const bool same_keys = std::ranges::all_of(says.entries, [&](const auto& entry) { return has.find(entry.key); });
    if (has.items.size() != says.items.size() ||
        (field.map && (has.entries.size() != says.entries.size() || !same_keys)))
      return replace(has, says, place);
    if (field.list) {
      for (std::size_t i = 0; i < has.items.size(); ++i)
        in_value(has.items[i], says.items[i], field, fmt::format("{}[{}]", place, i));
    } else if (field.map) {
      for (const auto& entry : says.entries)
        in_value(*has.find(entry.key), entry.value, field, place + '/' + entry.key);
    } else {
      in_value(has, says, field, place);
    }
  }

  void in_value(YamlNode& has, const YamlNode& says, const FieldInfo& field, const std::string& place) {
    if (field.group && has.is_scalar()) return in_bare(has, says, field, place);
    if (field.group) return in_struct(has, says, *field.group, place);
    if (field.family) return in_kind(has, says, *field.family, place);
    const bool sourced = field.sourced && (has.is_mapping() || says.is_mapping());
    if (!(sourced ? same_sourced(has, says, field) : same_scalar(has, says, field))) replace(has, says, place);
  }

  // A bare scalar stays one as long as it says all.
  void in_bare(YamlNode& has, const YamlNode& says, const FieldInfo& field, const std::string& place) {
    YamlNode meant = detail::with_bare_key(has, field);
    fill_defaults(meant, *field.group);
    const std::size_t before = differences.size();
    in_struct(meant, says, *field.group, place);
    if (differences.size() > before) has = std::move(meant);
  }

  void in_kind(YamlNode& has, const YamlNode& says, const FamilyInfo& family, const std::string& place) {
    const YamlNode *own = has.find(family.tag), *wanted = says.find(family.tag);
    const auto kind =
        own ? std::ranges::find(family.members, own->text, &FamilyInfo::Member::name) : family.members.end();
    if (!own || !wanted || own->text != wanted->text || kind == family.members.end()) return replace(has, says, place);
    in_struct(has, says, *kind->info, place);
  }
};

}  // namespace

std::vector<std::string> restate(YamlNode& tree, YamlNode written, const StructInfo& info) {
  fill_defaults(tree, info);
  fill_defaults(written, info);
  Restater restater;
  restater.in_struct(tree, written, info, "");
  fill_defaults(tree, info);  // the order of keys
  return std::move(restater.differences);
}

}  // namespace llmscape
