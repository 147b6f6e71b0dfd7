// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include <map>
#include <regex>
#include <string>

#include "base/yaml_reader.hpp"

namespace llmscape::test {

// A scalar is a number, true or false where it is not quoted and JSON would read it as one, as YAML's core schema has
// it.
nlohmann::json json_of(const YamlNode& node);

// What an editor would say of a value: as much of JSON Schema draft-07 as our schemas are written in.
class SchemaCheck {
 public:
  explicit SchemaCheck(nlohmann::json schema) : root_(std::move(schema)) {}
  // The first mistake with its place ("/hardware/devices/0: ..."), or nothing. Throws std::logic_error at a keyword
  // that it does not know.
  std::string mistake(const nlohmann::json& value) { return mistake(root_, value, ""); }

 private:
  using Json = nlohmann::json;
  std::string mistake(const Json& schema, const Json& value, const std::string& place);
  std::string at_keyword(const std::string& keyword, const Json& schema, const Json& value, const std::string& place);
  std::string in_object(const Json& schema, const Json& value, const std::string& place);
  int alternatives_met(const Json& alternatives, const Json& value, const std::string& place, std::string& first);
  bool matches(const std::string& pattern, const std::string& text);

  Json root_;
  std::map<std::string, std::regex> patterns_;
};

}  // namespace llmscape::test
