// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/schema_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>

namespace llmscape::test {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 7> kAnnotations = {"$schema", "$id",      "title",      "description",
                                                          "default", "examples", "definitions"};
constexpr std::array<std::string_view, 3> kOfObjects = {"properties", "required", "additionalProperties"};

bool has_type(const Json& value, const std::string& type) {
  if (type == "integer") return value.is_number() && std::trunc(value.get<double>()) == value.get<double>();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  throw std::logic_error("a schema has the type " + type);
}

}  // namespace

Json json_of(const YamlNode& node) {
  if (node.is_sequence()) {
    Json out = Json::array();
    for (const YamlNode& item : node.items) out.push_back(json_of(item));
    return out;
  }
  if (node.is_mapping()) {
    Json out = Json::object();
    for (const YamlNode::Entry& entry : node.entries) out[entry.key] = json_of(entry.value);
    return out;
  }
  if (!node.is_scalar()) return nullptr;
  const Json parsed = node.quoted ? Json(node.text) : Json::parse(node.text, nullptr, false);
  return parsed.is_discarded() ? Json(node.text) : parsed;
}

std::string SchemaCheck::mistake(const Json& schema, const Json& value, const std::string& place) {
  if (schema.is_boolean()) return schema.get<bool>() ? "" : place + ": nothing may stand here";
  for (const auto& [keyword, unused] : schema.items()) {
    std::string found = at_keyword(keyword, schema, value, place);
    if (!found.empty()) return found;
  }
  return value.is_object() ? in_object(schema, value, place) : "";
}

std::string SchemaCheck::at_keyword(const std::string& keyword, const Json& schema, const Json& value,
                                    const std::string& place) {
  const Json& rule = schema.at(keyword);
  const auto unless = [&](bool kept) { return kept ? "" : place + ": " + keyword + ' ' + rule.dump(); };
  const auto number = [&value] { return value.get<double>(); };
  std::string first;
  if (keyword == "$ref") {
    const Json* target = folder_.find(rule);
    if (!target) throw std::logic_error(rule.get<std::string>() + " leads nowhere");
    return mistake(*target, value, place);
  }
  if (keyword == "type")
    return unless(rule.is_array()
                      ? std::ranges::any_of(rule, [&value](const Json& one) { return has_type(value, one); })
                      : has_type(value, rule));
  if (keyword == "minItems") return unless(!value.is_array() || value.size() >= rule.get<std::size_t>());
  if (keyword == "maxItems") return unless(!value.is_array() || value.size() <= rule.get<std::size_t>());
  if (keyword == "const") return unless(value == rule);
  if (keyword == "enum") return unless(std::ranges::find(rule, value) != rule.end());
  if (keyword == "minimum") return unless(!value.is_number() || number() >= rule.get<double>());
  if (keyword == "exclusiveMinimum") return unless(!value.is_number() || number() > rule.get<double>());
  if (keyword == "maximum") return unless(!value.is_number() || number() <= rule.get<double>());
  if (keyword == "pattern") return unless(!value.is_string() || matches(rule, value));
  if (keyword == "allOf")
    return alternatives_met(rule, value, place, first) == static_cast<int>(rule.size()) ? "" : first;
  if (keyword == "anyOf")
    return alternatives_met(rule, value, place, first) > 0 ? "" : first + " (or other alternatives)";
  if (keyword == "oneOf") return alternatives_met(rule, value, place, first) == 1 ? "" : first + " (or several)";
  if (keyword == "items") {
    for (std::size_t i = 0; value.is_array() && i < value.size() && first.empty(); ++i)
      first = mistake(rule, value[i], place + '/' + std::to_string(i));
    return first;
  }
  if (std::ranges::find(kAnnotations, keyword) == kAnnotations.end() &&
      std::ranges::find(kOfObjects, keyword) == kOfObjects.end())
    throw std::logic_error("this does not know the keyword " + keyword + " of JSON Schema");
  return "";
}

std::string SchemaCheck::in_object(const Json& schema, const Json& value, const std::string& place) {
  for (const Json& key : schema.value("required", Json::array()))
    if (!value.contains(key.get<std::string>())) return place + ": lacks " + key.dump();
  const Json properties = schema.value("properties", Json::object()),
             others = schema.value("additionalProperties", Json(true));
  for (const auto& [key, item] : value.items()) {
    std::string found = mistake(properties.contains(key) ? properties[key] : others, item, place + '/' + key);
    if (!found.empty()) return found;
  }
  return "";
}

int SchemaCheck::alternatives_met(const Json& alternatives, const Json& value, const std::string& place,
                                  std::string& first) {
  int met = 0;
  for (const Json& alternative : alternatives) {
    const std::string found = mistake(alternative, value, place);
    met += found.empty();
    if (!found.empty() && (first.empty() || found.find(": ") > first.find(": "))) first = found;  // the deepest
  }
  return met;
}

bool SchemaCheck::matches(const std::string& pattern, const std::string& text) {
  const auto known = patterns_.find(pattern);
  return std::regex_search(
      text, known == patterns_.end() ? patterns_.emplace(pattern, pattern).first->second : known->second);
}

}  // namespace llmscape::test
