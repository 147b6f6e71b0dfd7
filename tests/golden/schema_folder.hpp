// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape::test {

// JSON Schemas that refer to each other, as an editor sees a folder of them.
class SchemaFolder {
 public:
  // Takes in the schema of that file name.
  void add(const std::string& file, std::string_view text);
  // The files `schemas/*.schema.json`.
  static SchemaFolder of_repository();

  [[nodiscard]] const nlohmann::json& root(const std::string& file) const { return roots_.at(file); }
  // Its `definitions`, empty if it has none.
  [[nodiscard]] const nlohmann::json& definitions(const std::string& file) const;
  // Where a `$ref` in one of them leads, nullptr if nowhere. In the trees held here each names its file.
  [[nodiscard]] const nlohmann::json* find(const std::string& reference) const;
  // All that stand anywhere in the file, in no order.
  [[nodiscard]] std::vector<std::string> references(const std::string& file) const;

 private:
  std::map<std::string, nlohmann::json> roots_;
};

}  // namespace llmscape::test
