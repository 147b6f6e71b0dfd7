// SPDX-License-Identifier: Apache-2.0
#include "base/field_text.hpp"
#include "base/json_schemas.hpp"
#include "base/json_text.hpp"
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

// Whether mappings of the field's family may leave out their kind: it is that of the default, or one that something
// else chooses (a batcher's: the engine).
bool may_leave_out_kind(const FieldInfo& field) { return field.default_text && !field.list; }

// How a struct is written where it stands: as a kind of a family, laid over a preset, as a whole file.
struct SchemaRole {
  const FamilyInfo* family = nullptr;
  std::string catalog{}, file_kind{};
  bool says_kind = true;  // its tag is required
};

class SchemaWriter {
 public:
  explicit SchemaWriter(const JsonSchemas::Written& elsewhere) : elsewhere_(elsewhere) {}

  Json write(const SchemaFile& file) {
    Json out = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                {"$id", file.id},
                {"title", file.kind.empty() ? file.info->name : file.kind}};
    if (file.family) {
      out["description"] = file.info->text;
      for (const auto& member : file.family->members)
        out["oneOf"].push_back(
            pointer(define(member.info, "file", fmt::format("{}.{}.file", file.family->name, member.name), [&] {
              return file_of(define_kind(*file.family, member, file.catalog, true),
                             object(*member.info, {file.family, file.catalog, file.kind}));
            })));
    } else {
      Json whole = object(*file.info, {nullptr, "", file.kind});
      if (!file.catalog.empty()) whole = file_of(define_group(*file.info, file.catalog), std::move(whole));
      out.update(whole);
    }
    if (!definitions_.empty()) out["definitions"] = std::move(definitions_);
    return out;
  }

  // Where each table is written, for the files after this one.
  void tell(const std::string& id, JsonSchemas::Written& written) const {
    for (const auto& [table, place] : names_) written.try_emplace(table, id + place);
  }

 private:
  // A kind as a file is its definition with the key `schema`. draft-07 sees no key of a reference beside
  // `additionalProperties: false`, so the keys are named again and refer to the definition one by one.
  static Json file_of(const std::string& definition, Json object) {
    for (auto& [key, value] : object["properties"].items())
      if (key != "schema") value = pointer(fmt::format("{}/properties/{}", definition, key));
    return object;
  }

  // The mapping of a struct. Where it may be laid over a preset, nothing else is required beside `preset`.
  Json object(const StructInfo& info, const SchemaRole& role) {
    Json properties = Json::object(), required = Json::array();
    Json always = Json::array();  // even over a preset
    if (!role.file_kind.empty()) {
      properties["schema"] = {{"description", "what this file is"}, {"const", fmt::format("{}/1", role.file_kind)}};
      always.push_back("schema");
    }
    if (!role.catalog.empty()) properties["preset"] = preset_name(role.catalog);
    if (role.family) {
      properties[role.family->tag] = {{"const", name_in(*role.family, info)}};
      if (role.says_kind) required.push_back(role.family->tag);
    }
    for (const FieldInfo& field : info.fields) {
      if (properties.contains("schema") && field.key == "schema") continue;
      properties[field.key] = property(field);
      if (field.required) required.push_back(field.key);
    }
    Json out = {{"description", info.text}, {"type", "object"}, {"properties", std::move(properties)}};
    if (role.catalog.empty()) always.insert(always.end(), required.begin(), required.end());
    else if (!required.empty())
      out["anyOf"] = Json::array({{{"required", Json::array({"preset"})}}, {{"required", std::move(required)}}});
    if (!always.empty()) out["required"] = std::move(always);
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
    if (field.group && !field.bare.empty())
      return {{"anyOf", Json::array({one_value(*field.group->find(field.bare)), reference(*field.group)})}};
    if (field.group) return field.catalog.empty() ? reference(*field.group) : group_or_preset(field);
    if (field.family) return family(field);
    return field.sourced ? sourced(field) : scalar(field);
  }

  Json sourced(const FieldInfo& field) {
    const std::string what = field.kind == ValueKind::quantity  ? std::string(name_of(field.dimension))
                             : field.kind == ValueKind::integer ? "integer"
                             : field.kind == ValueKind::number  ? "number"
                                                                : "value";
    const Json tag = shared("tag", one_of_names({kTagNames.begin(), kTagNames.end()}));
    Json value = scalar(field);
    Json with_source = {{"type", "object"},
                        {"properties", {{"value", value}, {"tag", tag}, {"source", {{"type", "string"}}}}},
                        {"required", {"value"}},
                        {"additionalProperties", false}};
    return shared("sourced." + what, {{"anyOf", Json::array({std::move(value), std::move(with_source)})}});
  }

  Json scalar(const FieldInfo& field) {
    switch (field.kind) {
      case ValueKind::boolean: return {{"type", "boolean"}};
      case ValueKind::integer: return bounded("integer", field);
      case ValueKind::number: return bounded("number", field);
      case ValueKind::quantity:
        return shared(fmt::format("quantity.{}", name_of(field.dimension)),
                      {{"type", "string"},
                       {"pattern", pattern_of(field.dimension)},
                       {"examples", Json::array({std::string(example_of(field.dimension))})}});
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
    return {{"anyOf", Json::array({preset_name(field.catalog), pointer(define_group(*field.group, field.catalog))})}};
  }

  std::string define_group(const StructInfo& info, const std::string& catalog) {
    return define(&info, catalog, info.name, [&] { return object(info, {nullptr, catalog, ""}); });
  }

  Json family(const FieldInfo& field) {
    const FamilyInfo& family = *field.family;
    const bool says_kind = !may_leave_out_kind(field);
    return pointer(define(&family, field.catalog + kind_role(says_kind), family.name, [&]() -> Json {
      Json choices = Json::array({field.catalog.empty() ? one_of_names(names_of(family)) : preset_name(field.catalog)});
      for (const auto& member : family.members)
        choices.push_back(pointer(define_kind(family, member, field.catalog, says_kind)));
      return {{"anyOf", std::move(choices)}};
    }));
  }

  static std::string kind_role(bool says_kind) { return says_kind ? "" : " of any kind"; }

  std::string define_kind(const FamilyInfo& family, const FamilyInfo::Member& member, const std::string& catalog,
                          bool says_kind) {
    return define(member.info, family.name + ' ' + catalog + kind_role(says_kind),
                  fmt::format("{}.{}", family.name, member.name),
                  [&] { return object(*member.info, {&family, catalog, "", says_kind}); });
  }

  Json reference(const StructInfo& info) {
    return pointer(define(&info, "", info.name, [&] { return object(info, {}); }));
  }

  static Json pointer(const std::string& place) { return {{"$ref", place}}; }

  // A definition without a table of its own: what is written alike is one.
  Json shared(const std::string& wanted, const Json& made) {
    const auto [place, added] = shared_.try_emplace(made.dump());
    if (added) {
      const std::string name = free_name(wanted);
      definitions_[name] = made;
      place->second = "#/definitions/" + name;
    }
    return pointer(place->second);
  }

  // The place where the struct or family is defined in this role; defines it on first use.
  template <class Make>
  std::string define(const void* info, const std::string& role, const std::string& wanted, Make make) {
    if (const auto other = elsewhere_.find({info, role}); other != elsewhere_.end()) return other->second;
    const auto [place, added] = names_.try_emplace({info, role});
    if (!added) return place->second;
    const std::string name = free_name(wanted);
    place->second = "#/definitions/" + name;
    definitions_[name] = nullptr;  // keeps the order of first use
    Json made = make();
    definitions_[name] = std::move(made);
    return place->second;
  }

  // Those that share a name are numbered.
  std::string free_name(const std::string& wanted) {
    std::string first = wanted;
    std::ranges::replace(first, '/', '.');  // which would part the steps of a pointer
    std::ranges::replace(first, ' ', '_');  // which no pointer may hold
    std::string name = first;
    for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}-{}", first, i);
    return name;
  }

  const JsonSchemas::Written& elsewhere_;
  Json definitions_ = Json::object();
  JsonSchemas::Written names_;
  std::map<std::string, std::string> shared_;  // by what is written
  std::set<std::string> taken_;
};

}  // namespace

std::string JsonSchemas::add(const SchemaFile& file) {
  SchemaWriter writer(written_);
  const Json schema = writer.write(file);
  writer.tell(file.id, written_);
  return json_text(schema.dump());
}

std::string json_schema(const StructInfo& info, const std::string& id) { return JsonSchemas().add({id, &info}); }

}  // namespace llmscape
