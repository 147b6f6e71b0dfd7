// SPDX-License-Identifier: Apache-2.0
#include "base/field_text.hpp"
#include "base/schema.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace llmscape {
namespace {

using Json = nlohmann::ordered_json;

Json one_of_names(const std::vector<std::string>& names) { return {{"type", "string"}, {"enum", names}}; }

std::vector<std::string> names_of(const FamilyInfo& family) {
  std::vector<std::string> out;
  for (const auto& member : family.members) out.push_back(member.name);
  return out;
}

Json preset_name(const std::string& catalog) {
  return {{"type", "string"}, {"description", fmt::format("name of an entry of the catalogue {}", catalog)}};
}

Json json_of(const YamlNode& node) {
  if (node.is_sequence()) {
    Json out = Json::array();
    for (const YamlNode& item : node.items) out.push_back(json_of(item));
    return out;
  }
  if (node.is_mapping()) {
    Json out = Json::object();
    for (const auto& entry : node.entries) out[entry.key] = json_of(entry.value);
    return out;
  }
  if (!node.is_scalar()) return nullptr;
  if (node.quoted) return node.text;
  const Json parsed = Json::parse(node.text, nullptr, false);  // numbers, true, false
  return parsed.is_discarded() ? Json(node.text) : parsed;
}

class SchemaWriter {
 public:
  Json write(const StructInfo& info, const std::string& id) {
    Json out = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"$id", id}, {"title", info.name}};
    out.update(object(info, nullptr, false));
    if (!definitions_.empty()) out["definitions"] = std::move(definitions_);
    return out;
  }

 private:
  // The mapping of a struct. A member of `family` has its tag; one laid over a preset has `preset` and requires nothing
  // else.
  Json object(const StructInfo& info, const FamilyInfo* family, bool over_preset, const std::string& catalog = {}) {
    Json properties = Json::object(), required = Json::array();
    if (over_preset) {
      properties["preset"] = preset_name(catalog);
      required.push_back("preset");
    }
    if (family) {
      properties[family->tag] = {{"const", name_in(*family, info)}};
      if (!over_preset) required.push_back(family->tag);
    }
    for (const FieldInfo& field : info.fields) {
      properties[field.key] = property(field);
      if (field.required && !over_preset) required.push_back(field.key);
    }
    Json out = {{"description", info.text}, {"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) out["required"] = std::move(required);
    out["additionalProperties"] = false;
    return out;
  }

  static std::string name_in(const FamilyInfo& family, const StructInfo& info) {
    for (const auto& member : family.members)
      if (member.info == &info) return member.name;
    return {};
  }

  Json property(const FieldInfo& field) {
    Json value = one_value(field);
    if (field.list) value = {{"type", "array"}, {"items", std::move(value)}};
    if (field.map) value = {{"type", "object"}, {"additionalProperties", std::move(value)}};
    if (value.contains("$ref")) value = {{"allOf", Json::array({std::move(value)})}};  // siblings of $ref are ignored
    Json out = {{"description", description_of(field)}};
    if (field.default_text) out["default"] = json_of(default_of(field));
    out.update(value);
    return out;
  }

  Json one_value(const FieldInfo& field) {
    if (field.group) return field.catalog.empty() ? reference(*field.group) : group_or_preset(field);
    if (field.family) return family_or_preset(field);
    Json value = scalar(field);
    if (!field.sourced) return value;
    Json sourced = {{"type", "object"},
                    {"properties",
                     {{"value", value},
                      {"tag", one_of_names({kTagNames.begin(), kTagNames.end()})},
                      {"source", {{"type", "string"}}}}},
                    {"required", {"value"}},
                    {"additionalProperties", false}};
    return {{"anyOf", Json::array({std::move(value), std::move(sourced)})}};
  }

  static Json scalar(const FieldInfo& field) {
    switch (field.kind) {
      case ValueKind::boolean: return {{"type", "boolean"}};
      case ValueKind::integer: return bounded("integer", field);
      case ValueKind::number: return bounded("number", field);
      case ValueKind::quantity:
        return {{"type", "string"},
                {"pattern", pattern_of(field.dimension)},
                {"examples", Json::array({std::string(example_of(field.dimension))})}};
      case ValueKind::choice: return one_of_names(field.choices);
      case ValueKind::any: return Json::object();
      default: return {{"type", "string"}};
    }
  }

  static Json bounded(const char* type, const FieldInfo& field) {
    const auto bound = [](double value) {
      return std::abs(value) < 1e15 && value == std::rint(value) ? Json(std::llrint(value)) : Json(value);
    };
    Json out = {{"type", type}};
    if (field.minimum) out[field.above_minimum ? "exclusiveMinimum" : "minimum"] = bound(*field.minimum);
    if (field.maximum) out["maximum"] = bound(*field.maximum);
    return out;
  }

  Json group_or_preset(const FieldInfo& field) {
    const std::string name = define(field.group, field.catalog, field.group->name + ".preset",
                                    [&] { return object(*field.group, nullptr, true, field.catalog); });
    return {{"anyOf", Json::array({preset_name(field.catalog), pointer(name), reference(*field.group)})}};
  }

  Json family_or_preset(const FieldInfo& field) {
    const FamilyInfo& family = *field.family;
    Json choices = Json::array();
    if (field.catalog.empty()) choices.push_back(one_of_names(names_of(family)));
    else choices.push_back(preset_name(field.catalog));
    for (const auto& member : family.members) {
      const std::string name = fmt::format("{}.{}", family.name, member.name);
      if (!field.catalog.empty())
        choices.push_back(pointer(define(member.info, field.catalog, name + ".preset",
                                         [&] { return object(*member.info, &family, true, field.catalog); })));
      choices.push_back(
          pointer(define(member.info, family.name, name, [&] { return object(*member.info, &family, false); })));
    }
    return {{"anyOf", std::move(choices)}};
  }

  Json reference(const StructInfo& info) {
    return pointer(define(&info, "", info.name, [&] { return object(info, nullptr, false); }));
  }

  static Json pointer(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

  // The name under which the struct is defined in this role; defines it on first use. Structs that share a name are
  // numbered.
  template <class Make>
  std::string define(const StructInfo* info, const std::string& role, const std::string& wanted, Make make) {
    const auto [place, added] = names_.try_emplace({info, role}, wanted);
    if (!added) return place->second;
    std::ranges::replace(place->second, '/', '.');  // which would part the steps of a pointer
    const std::string first = place->second;
    for (int i = 2; !taken_.insert(place->second).second; ++i) place->second = fmt::format("{}-{}", first, i);
    const std::string name = place->second;
    definitions_[name] = nullptr;  // keeps the order of first use
    Json made = make();
    definitions_[name] = std::move(made);
    return name;
  }

  Json definitions_ = Json::object();
  std::map<std::pair<const StructInfo*, std::string>, std::string> names_;
  std::set<std::string> taken_;
};

}  // namespace

std::string json_schema(const StructInfo& info, const std::string& id) {
  return SchemaWriter().write(info, id).dump(2) + '\n';
}

}  // namespace llmscape
