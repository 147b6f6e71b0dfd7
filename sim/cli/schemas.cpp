// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/schemas.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "models/native.hpp"
#include "sim/cli/description.hpp"
#include "sim/explore/baseline.hpp"
#include "sim/explore/plan_config.hpp"
#include "sim/studies/study_config.hpp"
#include "workloads/workload.hpp"

namespace llmscape::cli {
namespace {

using Json = nlohmann::ordered_json;

Json fields_schema(const StructInfo& info, std::string_view name) {
  return Json::parse(json_schema(info, fmt::format("{}.schema.json", name)));
}

// The key that says what the file is; the field tables leave it to whoever opens the file.
void require_kind(Json& object, std::string_view name) {
  Json properties = {{"schema", {{"description", "what this file is"}, {"const", fmt::format("{}/1", name)}}}};
  for (auto& [key, value] : object["properties"].items())
    if (key != "schema") properties[key] = std::move(value);
  object["properties"] = std::move(properties);
  Json required = Json::array({"schema"});
  if (object.contains("required"))
    for (const auto& key : object["required"])
      if (key != "schema") required.push_back(key);
  object["required"] = std::move(required);
}

Json scenario_schema() {
  Json schema = fields_schema(run::scenario_fields().info(), "scenario");
  require_kind(schema, "scenario");
  Json& model =
      schema["properties"]["model"];  // a bare name is a preset here too, though models have a reader of their own
  model = {{"description", model["description"]},
           {"anyOf", Json::array({{{"type", "string"}, {"description", "name of an entry of the catalogue models"}},
                                  model["allOf"][0]})}};
  return schema;
}

// One of the kinds of device, each with the key `schema`.
Json device_schema() {
  Json schema = fields_schema(device_file_fields().info(), "device");
  Json kinds = Json::array();
  for (const auto& member : hardware::devices().info().members) {
    const std::string name = fmt::format("device.{}", member.name);
    require_kind(schema["definitions"][name], "device");
    schema["definitions"].erase(name + ".preset");
    kinds.push_back({{"$ref", "#/definitions/" + name}});
  }
  for (const char* key : {"properties", "required", "additionalProperties", "type"}) schema.erase(key);
  Json definitions = std::move(schema["definitions"]);
  schema.erase("definitions");
  schema["oneOf"] = std::move(kinds);
  schema["definitions"] = std::move(definitions);
  return schema;
}

Json described_schema(const StructInfo& info, std::string_view name) {
  Json schema = fields_schema(info, name);
  require_kind(schema, name);
  return schema;
}

// What the field table leaves open: the shapes that axes, variants and zips may have.
Json sweep_schema() {
  Json schema = described_schema(explore::plan_fields().info(), "sweep");
  Json& properties = schema["properties"];
  const auto mapping_to = [](const Json& value) { return Json{{"type", "object"}, {"additionalProperties", value}}; };
  const auto list_of = [](const Json& value) { return Json{{"type", "array"}, {"items", value}}; };
  const auto either = [](Json a, Json b) { return Json{{"anyOf", Json::array({std::move(a), std::move(b)})}}; };
  const Json any = Json::object(), path = {{"type", "string"}};
  Json range = fields_schema(explore::range_fields().info(), "range");
  for (const char* key : {"$schema", "$id"}) range.erase(key);
  properties["base"].update(either(path, {{"type", "object"}}));
  properties["set"].update(mapping_to(any));
  properties["variants"].update(mapping_to(mapping_to(mapping_to(any))));
  properties["axes"].update(mapping_to(either(list_of(any), std::move(range))));
  properties["zip"].update(either(mapping_to(list_of(any)), list_of(mapping_to(list_of(any)))));
  properties["exclude"]["items"] = path;
  return schema;
}

// What the field table leaves open: numbers may be texts with a unit, and expressions stand by name.
Json study_schema() {
  Json schema = described_schema(studies::study_fields().info(), "study");
  schema["properties"]["let"].update({{"type", "object"}, {"additionalProperties", {{"type", {"string", "number"}}}}});
  const Json pair = {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 2}, {"maxItems", 2}};
  schema["properties"]["same"]["items"] = pair;
  return schema;
}

// Small descriptions are read into a group of a scenario's fields: the first one that takes presets of their catalogue.
struct PresetKind {
  std::string_view name, catalog;
};
constexpr std::array kPresetKinds = {PresetKind{"dram", "dram"}, PresetKind{"host", "hosts"},
                                     PresetKind{"link", "links"}, PresetKind{"node", "nodes"},
                                     PresetKind{"tier", "tiers"}};

const StructInfo* preset_group(const StructInfo& info, std::string_view catalog, std::set<const void*>& seen) {
  if (!seen.insert(&info).second) return nullptr;
  for (const FieldInfo& field : info.fields) {
    if (!field.group) continue;
    if (field.catalog == catalog) return field.group;
    if (const StructInfo* found = preset_group(*field.group, catalog, seen)) return found;
  }
  for (const FieldInfo& field : info.fields) {
    if (!field.family) continue;
    for (const auto& member : field.family->members)
      if (const StructInfo* found = preset_group(*member.info, catalog, seen)) return found;
  }
  return nullptr;
}

}  // namespace

std::string schema_of(std::string_view name) {
  if (name == "scenario") return scenario_schema().dump(2) + '\n';
  if (name == "sweep") return sweep_schema().dump(2) + '\n';
  if (name == "device") return device_schema().dump(2) + '\n';
  if (name == "model") return described_schema(models::native_model_fields().info(), name).dump(2) + '\n';
  if (name == "workload") return described_schema(workloads::workload_fields().info(), name).dump(2) + '\n';
  if (name == "baseline") return described_schema(explore::baseline_info(), name).dump(2) + '\n';
  if (name == "study") return study_schema().dump(2) + '\n';
  for (const PresetKind& kind : kPresetKinds) {
    std::set<const void*> seen;  // only asked, never walked
    if (kind.name == name)
      return described_schema(*preset_group(run::scenario_fields().info(), kind.catalog, seen), name).dump(2) + '\n';
  }
  throw std::logic_error(fmt::format("no schema of '{}'", name));
}

}  // namespace llmscape::cli
