// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include <map>
#include <regex>
#include <string>

#include "base/field_info.hpp"
#include "tests/golden/schema_folder.hpp"

namespace llmscape::test {

// A scalar is a number, true or false where it is not quoted and JSON would read it as one, as YAML's core schema has
// it.
nlohmann::json json_of(const YamlNode& node);

// What of a field table a schema lacks or has too much of, one line each ("scenario/slo: no key 'ttft'"): every key of
// every struct that is reached, which of them are required, the names, units and ranges that they take. Follows each
// `$ref`; one that leads nowhere is a line, too. `group`, if not empty: the whole schema is one of the kinds of the
// family under that key, the only one of `info`.
std::string uncovered(const SchemaFolder& folder, const std::string& file, const StructInfo& info,
                      const std::string& group = {});

// What an editor would say of a value: as much of JSON Schema draft-07 as our schemas are written in.
class SchemaCheck {
 public:
  // Holds on to the folder.
  SchemaCheck(const SchemaFolder& folder, const std::string& file) : folder_(folder), root_(folder.root(file)) {}
  // The first mistake with its place ("/hardware/devices/0: ..."), or nothing. Throws std::logic_error at a keyword
  // that it does not know and at a reference that leads nowhere.
  std::string mistake(const nlohmann::json& value) { return mistake(root_, value, ""); }

 private:
  using Json = nlohmann::json;
  std::string mistake(const Json& schema, const Json& value, const std::string& place);
  std::string at_keyword(const std::string& keyword, const Json& schema, const Json& value, const std::string& place);
  std::string in_object(const Json& schema, const Json& value, const std::string& place);
  int alternatives_met(const Json& alternatives, const Json& value, const std::string& place, std::string& first);
  bool matches(const std::string& pattern, const std::string& text);

  const SchemaFolder& folder_;
  const Json& root_;
  std::map<std::string, std::regex> patterns_;
};

}  // namespace llmscape::test
