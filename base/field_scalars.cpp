// SPDX-License-Identifier: Apache-2.0
#include "base/field_text.hpp"
#include "base/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace llmscape::detail {
namespace {

std::string what_it_is(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::scalar: return in_quotes(node.text);
    case YamlNode::Kind::sequence: return "a list";
    case YamlNode::Kind::mapping: return "a mapping";
    default: return "nothing";
  }
}

bool in_bounds(double value, const FieldInfo& info) {
  if (info.minimum && (info.above_minimum ? value <= *info.minimum : value < *info.minimum)) return false;
  if (info.maximum && value > *info.maximum) return false;
  int exponent = 0;
  return !info.power_of_two || (value >= 1 && std::frexp(value, &exponent) == 0.5);
}

bool check_range(const YamlNode& node, double value, const FieldInfo& info, Diagnostics& diagnostics) {
  if (in_bounds(value, info)) return true;
  diagnostics.error(node.where, fmt::format("'{}' must be {}; got {}", info.key, range_of(info), shortened(node.text)));
  return false;
}

void report_quantity(const YamlNode& node, const FieldInfo& info, const QuantityError& error,
                     Diagnostics& diagnostics) {
  diagnostics.error(node.where, fmt::format("'{}' {}; got {}", info.key, error.message, in_quotes(node.text)),
                    error.suggestion.empty() ? "" : fmt::format("write '{}'", error.suggestion));
}

// Whether it is worth asking what number the text is; if not, the message need not go into it.
bool may_be_number(const YamlNode& node) {
  constexpr std::size_t kLongest = 100;
  return node.is_scalar() && node.text.size() <= kLongest && node.text.find_first_of("0123456789") != std::string::npos;
}

// The number that a plain scalar is, without unit.
std::optional<double> plain_number(const YamlNode& node, const FieldInfo& info, std::string_view wanted,
                                   Diagnostics& diagnostics) {
  if (!may_be_number(node)) {
    report_not(node, info, wanted, diagnostics);
    return std::nullopt;
  }
  if (node.quoted) {
    diagnostics.error(node.where, fmt::format("'{}' must be {}; a quoted text is none", info.key, wanted),
                      "leave the quotes out");
    return std::nullopt;
  }
  const auto parsed = parse_quantity(node.text, Dimension::number);
  if (const auto* value = std::get_if<double>(&parsed)) return *value;
  report_quantity(node, info, std::get<QuantityError>(parsed), diagnostics);
  return std::nullopt;
}

// All 64 bits of an integer whose text was read as `number`; nothing beyond them.
std::optional<std::int64_t> exact_integer(std::string digits, double number) {
  std::erase(digits, '_');
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (stop == end && error == std::errc()) return value;
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (stop == end || std::abs(number) >= kLimit) return std::nullopt;
  return static_cast<std::int64_t>(number);  // "1e3"
}

}  // namespace

void report_not(const YamlNode& node, const std::string& subject, std::string_view wanted, Diagnostics& diagnostics) {
  if (node.kind == YamlNode::Kind::invalid) return diagnostics.already_reported();
  diagnostics.error(node.where, fmt::format("{} must be {}; got {}", subject, wanted, what_it_is(node)));
}

void report_not(const YamlNode& node, const FieldInfo& info, std::string_view wanted, Diagnostics& diagnostics) {
  report_not(node, fmt::format("'{}'", info.key), wanted, diagnostics);
}

std::optional<double> read_number(const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) {
  std::optional<double> value;
  if (info.dimension == Dimension::number) {
    value = plain_number(node, info, "a number", diagnostics);
  } else if (!may_be_number(node)) {
    report_not(node, info, fmt::format("a {} such as {}", name_of(info.dimension), example_of(info.dimension)),
               diagnostics);
  } else {
    const auto parsed = parse_quantity(node.text, info.dimension);
    if (const auto* error = std::get_if<QuantityError>(&parsed)) report_quantity(node, info, *error, diagnostics);
    else value = std::get<double>(parsed);
  }
  return value && check_range(node, *value, info, diagnostics) ? value : std::nullopt;
}

std::optional<std::int64_t> read_integer(const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics,
                                         std::int64_t lowest, std::int64_t highest) {
  const auto number = plain_number(node, info, "a whole number", diagnostics);
  if (!number) return std::nullopt;
  if (*number != std::floor(*number)) {
    report_not(node, info, "a whole number", diagnostics);
    return std::nullopt;
  }
  const auto value = exact_integer(node.text, *number);
  if (!value || *value < lowest || *value > highest) {
    report_not(node, info, fmt::format("a whole number from {} to {}", lowest, highest), diagnostics);
    return std::nullopt;
  }
  return check_range(node, static_cast<double>(*value), info, diagnostics) ? value : std::nullopt;
}

std::optional<bool> read_boolean(const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) {
  static const std::vector<std::string> yes = {"yes", "on", "true", "1", "y"}, no = {"no", "off", "false", "0", "n"};
  if (!node.is_scalar()) {
    report_not(node, info, "true or false", diagnostics);
    return std::nullopt;
  }
  if (!node.quoted && (node.text == "true" || node.text == "false")) return node.text == "true";
  std::string word = node.text;
  std::ranges::transform(word, word.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  std::string meant;
  if (std::ranges::find(yes, word) != yes.end()) meant = "write 'true'";
  if (std::ranges::find(no, word) != no.end()) meant = "write 'false'";
  diagnostics.error(node.where, fmt::format("'{}' must be true or false; got {}", info.key, in_quotes(node.text)),
                    meant);
  return std::nullopt;
}

std::optional<std::string> read_text(const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) {
  if (!node.is_scalar()) {
    report_not(node, info, info.choices.empty() ? "a text" : fmt::format("one of {}", fmt::join(info.choices, ", ")),
               diagnostics);
    return std::nullopt;
  }
  if (!info.choices.empty() && std::ranges::find(info.choices, node.text) == info.choices.end()) {
    diagnostics.error(
        node.where,
        fmt::format("'{}' must be one of {}; got {}", info.key, fmt::join(info.choices, ", "), in_quotes(node.text)),
        did_you_mean(node.text, info.choices));
    return std::nullopt;
  }
  return node.text;
}

const YamlNode* read_sourced(const YamlNode& node, const FieldInfo& info, Tag& tag, std::string& source,
                             Diagnostics& diagnostics) {
  static const std::vector<std::string> keys = {"value", "tag", "source"};
  tag = Tag::assumed;
  source.clear();
  if (!node.is_mapping()) return &node;
  for (const auto& entry : node.entries) {
    if (entry.key == "value") continue;
    FieldInfo part;
    part.key = fmt::format("{}.{}", info.key, entry.key);
    if (entry.key == "tag") {
      part.choices.assign(kTagNames.begin(), kTagNames.end());
      if (const auto word = read_text(entry.value, part, diagnostics))
        tag = static_cast<Tag>(std::ranges::find(kTagNames, *word) - kTagNames.begin());
    } else if (entry.key == "source") {
      source = read_text(entry.value, part, diagnostics).value_or("");
    } else {
      diagnostics.error(
          entry.key_where,
          fmt::format("unknown key {} in '{}', which holds value, tag and source", in_quotes(entry.key), info.key),
          did_you_mean(entry.key, keys));
    }
  }
  const YamlNode* value = node.find("value");
  if (!value) diagnostics.error(node.where, fmt::format("'value' is required in '{}'", info.key));
  return value;
}

}  // namespace llmscape::detail
