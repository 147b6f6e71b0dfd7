// SPDX-License-Identifier: Apache-2.0
#include "models/hf/config_reader.hpp"

#include <fmt/format.h>

#include <charconv>

namespace llmscape::models::hf {
namespace {

constexpr std::int64_t kLargest = 20'000'000;  // no width, count or length of a model comes near it

std::string nearest_key(const YamlNode& node, std::string_view key) {
  std::vector<std::string> keys;
  for (const auto& entry : node.entries) keys.push_back(entry.key);
  return did_you_mean(key, keys);
}

}  // namespace

const YamlNode* ConfigReader::find(std::string_view key) const {
  const YamlNode* value = node_.find(key);
  return value && value->kind != YamlNode::Kind::null ? value : nullptr;
}

void ConfigReader::error(std::string_view key, std::string message, std::string suggestion) {
  const YamlNode* value = find(key);
  diagnostics_.error(value ? value->where : node_.where, std::move(message), std::move(suggestion));
}

std::int64_t ConfigReader::whole_number(const YamlNode& value, std::string_view key, std::int64_t minimum) {
  std::int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, failure] = std::from_chars(value.text.data(), end, number);
  const bool is_number = value.is_scalar() && !value.quoted && failure == std::errc() && stop == end;
  if (is_number && number >= minimum && number <= kLargest) return number;
  diagnostics_.error(value.where, fmt::format("'{}' must be a whole number from {} to {}{}", key, minimum, kLargest,
                                              value.is_scalar() ? ", not '" + value.text + "'" : ""));
  return 1;
}

std::int64_t ConfigReader::integer(std::string_view key) {
  if (const YamlNode* value = find(key)) return whole_number(*value, key, 1);
  error(key, fmt::format("'{}' is missing", key), nearest_key(node_, key));
  return 1;
}

std::int64_t ConfigReader::integer(std::string_view key, std::int64_t fallback) {
  const YamlNode* value = find(key);
  return value ? whole_number(*value, key, 1) : fallback;
}

std::int64_t ConfigReader::count(std::string_view key, std::int64_t fallback) {
  const YamlNode* value = find(key);
  return value ? whole_number(*value, key, 0) : fallback;
}

std::vector<std::int64_t> ConfigReader::integers(std::string_view key) {
  std::vector<std::int64_t> numbers;
  const YamlNode* list = find(key);
  if (!list || !list->is_sequence()) {
    error(key, fmt::format("'{}' must be a list", key));
    return numbers;
  }
  for (const YamlNode& item : list->items) numbers.push_back(whole_number(item, key, 1));
  return numbers;
}

bool ConfigReader::flag(std::string_view key, bool fallback) {
  const YamlNode* value = find(key);
  if (!value) return fallback;
  if (value->is_scalar() && !value->quoted && (value->text == "true" || value->text == "false"))
    return value->text == "true";
  error(key, fmt::format("'{}' must be true or false", key));
  return fallback;
}

std::optional<std::string> ConfigReader::text(std::string_view key) {
  const YamlNode* value = find(key);
  if (!value) return std::nullopt;
  if (value->is_scalar()) return value->text;
  error(key, fmt::format("'{}' must be a text", key));
  return std::nullopt;
}

}  // namespace llmscape::models::hf
