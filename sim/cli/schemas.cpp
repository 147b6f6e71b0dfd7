// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/schemas.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/json_schemas.hpp"
#include "base/json_text.hpp"
#include "base/schema.hpp"
#include "hardware/link.hpp"
#include "models/native.hpp"
#include "sim/cli/description.hpp"
#include "sim/explore/baseline.hpp"
#include "sim/explore/plan_config.hpp"
#include "sim/studies/study_config.hpp"
#include "sim/validation/host_constants.hpp"
#include "sim/validation/row_mapping.hpp"
#include "workloads/workload.hpp"

namespace llmscape::cli {
namespace {

using Json = nlohmann::ordered_json;

// A bare name is a preset here too, though models have a reader of their own.
void allow_names_of_models(Json& schema) {
  Json& model = schema["properties"]["model"];
  model = {{"description", model["description"]},
           {"anyOf", Json::array({{{"type", "string"}, {"description", "name of an entry of the catalogue models"}},
                                  model["allOf"][0]})}};
}

// YAML reads an unquoted 0.11 as a number; the reader of scenarios takes what is written.
void allow_numbers_as_versions(Json& schema) {
  Json& version = schema["definitions"]["engine"]["properties"]["version"];
  version.erase("type");
  version["anyOf"] = Json::array({{{"type", "string"}}, {{"type", "number"}}});
}

// What the field table leaves open: the shapes that axes, variants and zips may have.
void add_shapes_of_axes(Json& schema) {
  Json& properties = schema["properties"];
  const auto mapping_to = [](const Json& value) { return Json{{"type", "object"}, {"additionalProperties", value}}; };
  const auto list_of = [](const Json& value) { return Json{{"type", "array"}, {"items", value}}; };
  const auto either = [](Json a, Json b) { return Json{{"anyOf", Json::array({std::move(a), std::move(b)})}}; };
  const Json any = Json::object(), path = {{"type", "string"}};
  Json range = Json::parse(json_schema(explore::range_fields().info(), "range"));
  for (const char* key : {"$schema", "$id"}) range.erase(key);
  if (range.contains("definitions")) throw std::logic_error("a range of a sweep has fields of its own kinds");
  properties["base"].update(either(path, {{"type", "object"}}));
  properties["set"].update(mapping_to(any));
  properties["variants"].update(mapping_to(mapping_to(mapping_to(any))));
  properties["axes"].update(mapping_to(either(list_of(any), std::move(range))));
  properties["zip"].update(either(mapping_to(list_of(any)), list_of(mapping_to(list_of(any)))));
  properties["exclude"]["items"] = path;
}

// What the field table leaves open: numbers may be texts with a unit, and expressions stand by name.
void add_shapes_of_expressions(Json& schema) {
  schema["properties"]["let"].update({{"type", "object"}, {"additionalProperties", {{"type", {"string", "number"}}}}});
  const Json pair = {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 2}, {"maxItems", 2}};
  schema["properties"]["same"]["items"] = pair;
}

// Small descriptions are read into a group of a scenario's fields: the first one that takes presets of their catalogue.
struct PresetKind {
  std::string_view name, catalog;
};
constexpr std::array kPresetKinds = {PresetKind{"dram", "dram"}, PresetKind{"host", "hosts"},
                                     PresetKind{"node", "nodes"}, PresetKind{"tier", "tiers"},
                                     PresetKind{"prices", "prices"}};

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

std::string_view catalog_of(std::string_view name) {
  for (const PresetKind& kind : kPresetKinds)
    if (kind.name == name) return kind.catalog;
  return name == "workload" ? "workloads" : "";
}

// The schema of that name, with references to what `set` has already.
std::string add_to(JsonSchemas& set, std::string_view name) {
  SchemaFile file{fmt::format("{}.schema.json", name), &fields_of_schema(name), std::string(name), nullptr,
                  std::string(catalog_of(name))};
  if (name == "device") {
    const FieldInfo& device = *file.info->find("device");
    file.family = device.family;
    file.catalog = device.catalog;
  }
  Json schema = Json::parse(set.add(file));
  if (name == "scenario") {
    allow_names_of_models(schema);
    allow_numbers_as_versions(schema);
  }
  if (name == "sweep") add_shapes_of_axes(schema);
  if (name == "study") add_shapes_of_expressions(schema);
  return json_text(schema.dump());
}

}  // namespace

const StructInfo& fields_of_schema(std::string_view name) {
  if (name == "scenario") return scenario::scenario_fields().info();
  if (name == "sweep") return explore::plan_fields().info();
  if (name == "device") return device_file_fields().info();
  if (name == "model") return models::native_model_fields().info();
  if (name == "workload") return workloads::workload_fields().info();
  if (name == "baseline") return explore::baseline_info();
  if (name == "study") return studies::study_fields().info();
  if (name == "rows") return validation::row_mapping_fields().info();
  if (name == "host_constants") return validation::host_constants_fields().info();
  if (name == "link") return hardware::link_fields().info();
  std::set<const void*> seen;  // only asked, never walked
  if (const std::string_view catalog = catalog_of(name); !catalog.empty())
    return *preset_group(scenario::scenario_fields().info(), catalog, seen);
  throw std::logic_error(fmt::format("no schema of '{}'", name));
}

std::vector<std::pair<std::string_view, std::string>> schema_files() {
  // Those that others are made of come first.
  constexpr std::array kOrder = {"dram",   "host",  "link",     "node",           "tier",
                                 "device", "model", "workload", "prices",         "scenario",
                                 "sweep",  "study", "rows",     "host_constants", "baseline"};
  static_assert(kOrder.size() == kSchemas.size());
  JsonSchemas set;
  std::vector<std::pair<std::string_view, std::string>> files;
  for (const char* name : kOrder) files.emplace_back(name, add_to(set, name));
  return files;
}

}  // namespace llmscape::cli
