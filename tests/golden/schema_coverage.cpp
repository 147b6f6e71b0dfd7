// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/field_text.hpp"
#include "tests/golden/schema_check.hpp"

namespace llmscape::test {
namespace {

using Json = nlohmann::json;

// Walks a field table and its schema side by side.
class Coverage {
 public:
  explicit Coverage(const SchemaFolder& folder) : folder_(folder) {}

  void of_struct(const StructInfo& info, const Json& schema, const std::string& place, const std::string& tag = {}) {
    if (!seen_.insert({&info, &schema}).second) return;
    if (!schema.contains("properties") || schema.value("additionalProperties", Json()) != Json(false))
      return lack(place, "no mapping of its keys alone");
    std::set<std::string> required, known = {"schema", "preset"};
    if (!tag.empty()) known.insert(tag);
    const auto require = [&required](const Json& object) {
      if (object.contains("required")) required.insert(object["required"].begin(), object["required"].end());
    };
    require(schema);
    if (schema.contains("anyOf"))
      for (const Json& way : schema["anyOf"])
        if (way["required"] != Json::array({"preset"})) require(way);
    for (const FieldInfo& field : info.fields) {
      known.insert(field.key);
      const std::string inner = place + '/' + field.key;
      if (field.key == "schema") continue;  // says what the file is
      if (!schema["properties"].contains(field.key)) lack(place, fmt::format("no key '{}'", field.key));
      else of_field(field, schema["properties"][field.key], inner);
      if (required.contains(field.key) != field.required) lack(inner, "required in one of both only");
    }
    for (const auto& [key, unused] : schema["properties"].items())
      if (!known.contains(key)) lack(place, fmt::format("no field '{}'", key));
  }

  void of_family(const FamilyInfo& family, const Json& schema, bool names, const std::string& place) {
    std::set<std::string> choices, kinds;
    for (const Json* way : alternatives(schema)) {
      if (way->contains("enum")) choices.insert((*way)["enum"].begin(), (*way)["enum"].end());
      if (!way->contains("properties")) continue;
      const Json& properties = (*way)["properties"];
      if (!properties.contains(family.tag)) continue;
      const Json& tag = resolved(properties[family.tag]);
      for (const auto& member : family.members) {
        if (tag.value("const", "") != member.name) continue;
        kinds.insert(member.name);
        of_struct(*member.info, *way, place + ':' + member.name, family.tag);
      }
    }
    for (const auto& member : family.members) {
      if (!kinds.contains(member.name)) lack(place, fmt::format("no kind '{}'", member.name));
      if (names && !choices.contains(member.name)) lack(place, fmt::format("no name '{}'", member.name));
    }
  }

  std::string text;

 private:
  void lack(const std::string& place, const std::string& what) { text += place + ": " + what + '\n'; }

  // What a reference of a file to a key of its kind leads to; it stands alone, without `allOf`.
  const Json& named(const Json& property) {
    if (!property.contains("$ref")) return property;
    const Json* target = folder_.find(property["$ref"]);
    return target ? *target : nowhere_;
  }

  // Where the references of a node lead.
  const Json& resolved(const Json& schema) {
    if (schema.contains("allOf")) return resolved(schema["allOf"].at(0));
    if (!schema.contains("$ref")) return schema;
    if (const Json* target = folder_.find(schema["$ref"])) return resolved(*target);
    lack(schema["$ref"], "leads nowhere");
    return nowhere_;
  }

  // The node, and all that may stand in its place.
  std::vector<const Json*> alternatives(const Json& schema) {
    const Json& found = resolved(schema);
    std::vector<const Json*> out = {&found};
    for (const char* keyword : {"anyOf", "oneOf"}) {
      if (!found.contains(keyword) || found.contains("properties")) continue;
      for (const Json& one : found[keyword])
        for (const Json* way : alternatives(one)) out.push_back(way);
    }
    return out;
  }

  void of_field(const FieldInfo& field, const Json& property, const std::string& place) {
    if (named(property).value("description", "") != description_of(field)) lack(place, "another description");
    const Json& whole = resolved(property);
    if (field.list && !whole.contains("items")) return lack(place, "no list");
    if (field.map && field.kind != ValueKind::any && !whole.value("additionalProperties", Json()).is_object())
      return lack(place, "no mapping");
    if (field.kind == ValueKind::any) return;
    const Json& one = field.list ? whole["items"] : field.map ? whole["additionalProperties"] : property;
    if (field.family) return of_family(*field.family, one, field.catalog.empty(), place);
    bool found = false;
    for (const Json* way : alternatives(one)) {
      if (field.group && way->contains("properties")) of_struct(*field.group, *way, place);
      found |= field.group ? way->contains("properties") : fits(field, *way);
    }
    if (!found) lack(place, "none of its values");
  }

  static bool fits(const FieldInfo& field, const Json& way) {
    if (field.kind == ValueKind::choice) return way.value("enum", Json()) == Json(field.choices);
    if (field.kind == ValueKind::quantity) return way.value("pattern", "") == pattern_of(field.dimension);
    const char* type = field.kind == ValueKind::boolean   ? "boolean"
                       : field.kind == ValueKind::integer ? "integer"
                       : field.kind == ValueKind::number  ? "number"
                                                          : "string";
    if (way.value("type", "") != type) return false;
    const char* lowest = field.above_minimum ? "exclusiveMinimum" : "minimum";
    return (!field.minimum || way.value(lowest, Json()) == Json(*field.minimum)) &&
           (!field.maximum || way.value("maximum", Json()) == Json(*field.maximum));
  }

  const SchemaFolder& folder_;
  const Json nowhere_ = Json::object();
  std::set<std::pair<const void*, const void*>> seen_;
};

}  // namespace

std::string uncovered(const SchemaFolder& folder, const std::string& file, const StructInfo& info,
                      const std::string& group) {
  Coverage coverage(folder);
  if (group.empty()) coverage.of_struct(info, folder.root(file), info.name);
  else coverage.of_family(*info.find(group)->family, folder.root(file), false, info.name);
  return coverage.text;
}

}  // namespace llmscape::test
