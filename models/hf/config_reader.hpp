// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/yaml_reader.hpp"

namespace llmscape::models::hf {

// Reads keys of a Hugging Face config.json and reports every mistake at its place. A key that is `null` counts as
// absent. What cannot be read yields 1, so that reading goes on to the next mistake; the caller throws the model away
// if there were any.
class ConfigReader {
 public:
  ConfigReader(const YamlNode& node, Diagnostics& diagnostics) : node_(node), diagnostics_(diagnostics) {}

  // A whole number from 1 to 2 x 10^7.
  std::int64_t integer(std::string_view key);
  // The same; `fallback` where the key is absent. The families' readers pass the defaults of their class in
  // `transformers`.
  std::int64_t integer(std::string_view key, std::int64_t fallback);
  // A whole number that may be 0.
  std::int64_t count(std::string_view key, std::int64_t fallback);
  // The items of a list of whole numbers from 1 to 2 x 10^7.
  std::vector<std::int64_t> integers(std::string_view key);
  bool flag(std::string_view key, bool fallback);
  std::optional<std::string> text(std::string_view key);

  // nullptr if absent or null.
  [[nodiscard]] const YamlNode* find(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  // Reports `message` at the key, or at the whole file where it is absent.
  void error(std::string_view key, std::string message, std::string suggestion = {});
  [[nodiscard]] const YamlNode& node() const { return node_; }
  [[nodiscard]] Diagnostics& diagnostics() { return diagnostics_; }

 private:
  std::int64_t whole_number(const YamlNode& value, std::string_view key, std::int64_t minimum);

  const YamlNode& node_;
  Diagnostics& diagnostics_;
};

}  // namespace llmscape::models::hf
