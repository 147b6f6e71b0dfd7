// SPDX-License-Identifier: Apache-2.0
#include "base/field_text.hpp"

#include "base/schema.hpp"
#include "base/table.hpp"

#include <fmt/format.h>

namespace llmscape {
namespace {

// A bound as it is written; zero needs no unit.
std::string bound(double value, Dimension dimension) { return value == 0 ? "0" : format_quantity(value, dimension); }

std::string one_value_of(const FieldInfo& field) {
  switch (field.kind) {
    case ValueKind::boolean: return "true | false";
    case ValueKind::integer: return "whole number";
    case ValueKind::number: return "number";
    case ValueKind::quantity: return fmt::format("{} ({})", name_of(field.dimension), example_of(field.dimension));
    case ValueKind::text: return "text";
    case ValueKind::choice: return fmt::format("{}", fmt::join(field.choices, " | "));
    case ValueKind::group:
      return field.bare.empty()
                 ? field.group->name
                 : fmt::format("{} | {}", one_value_of(*field.group->find(field.bare)), field.group->name);
    case ValueKind::any: return field.map ? "mapping" : "any";
    case ValueKind::family: break;
  }
  std::string names;
  for (const auto& member : field.family->members) names += (names.empty() ? "" : " | ") + member.name;
  return names;
}

std::string default_text(const FieldInfo& field) {
  if (field.required) return "required";
  if (!field.default_text) return "";
  const YamlNode node = default_of(field);
  const YamlNode* value = field.sourced ? node.find("value") : nullptr;
  return value ? value->text : *field.default_text;
}

}  // namespace

std::string range_of(const FieldInfo& field) {
  std::string out = field.power_of_two ? "a power of two" : "";
  if (field.minimum)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", field.above_minimum ? "above" : "at least",
                       bound(*field.minimum, field.dimension));
  if (field.maximum)
    out += fmt::format("{}at most {}", out.empty() ? "" : " and ", bound(*field.maximum, field.dimension));
  return out;
}

std::string value_of(const FieldInfo& field) {
  const std::string one = one_value_of(field);
  const std::string all = field.list ? "list of " + one : field.map ? "names with " + one : one;
  return field.catalog.empty() ? all : fmt::format("{}, or a preset of {}", all, field.catalog);
}

std::string description_of(const FieldInfo& field) {
  const std::string range = range_of(field);
  return range.empty() ? field.text : fmt::format("{} ({})", field.text, range);
}

std::string fields_table(const StructInfo& info, int width) {
  Table table({"key", "value", "default", "range", "description"});
  for (const FieldInfo& field : info.fields)
    table.row({field.key, value_of(field), default_text(field), range_of(field), field.text});
  return table.text(width);
}

}  // namespace llmscape
