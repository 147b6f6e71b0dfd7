// SPDX-License-Identifier: Apache-2.0
#include "base/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/field_text.hpp"
#include "base/yaml_lines.hpp"

namespace llmscape {

const FieldInfo* StructInfo::find(std::string_view key) const {
  const auto found = std::ranges::find(fields, key, &FieldInfo::key);
  return found == fields.end() ? nullptr : &*found;
}

YamlNode default_of(const FieldInfo& info) {
  Diagnostics mistakes;
  const SourceText text{fmt::format("default of '{}'", info.key), *info.default_text};
  YamlNode node = read_yaml(std::make_shared<const SourceText>(text), mistakes);
  if (mistakes.has_errors()) throw std::logic_error(mistakes.text(false));
  return node;
}

namespace detail {
namespace {

constexpr double kLargestExactInteger = 9007199254740992.0;  // 2^53

template <class Range, class Projection>
std::vector<std::string> names_in(const Range& range, Projection projection) {
  std::vector<std::string> out;
  std::ranges::transform(range, std::back_inserter(out), projection);
  return out;
}

// "device 'gpu0'", or "device" for one without a name.
std::string title(const YamlNode& node, const std::string& kind) {
  const YamlNode* name = node.find("name");
  return name && name->is_scalar() ? fmt::format("{} {}", kind, in_quotes(name->text)) : kind;
}

std::string what_it_is(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::scalar: return in_quotes(node.text);
    case YamlNode::Kind::sequence: return "a list";
    case YamlNode::Kind::mapping: return "a mapping";
    default: return "nothing";
  }
}

void report_mismatch(const YamlNode& node, const std::string& subject, std::string_view wanted, Diagnostics& diagnostics) {
  if (node.kind == YamlNode::Kind::invalid) return diagnostics.already_reported();
  diagnostics.error(node.where, fmt::format("{} must be {}; got {}", subject, wanted, what_it_is(node)));
}

bool in_bounds(double value, const FieldInfo& info) {
  if (info.minimum && (info.above_minimum ? value <= *info.minimum : value < *info.minimum)) return false;
  if (info.maximum && value > *info.maximum) return false;
  return !info.power_of_two || (value >= 1 && value <= kLargestExactInteger && std::exp2(std::round(std::log2(value))) == value);
}

bool check_range(const YamlNode& node, double value, const FieldInfo& info, Diagnostics& diagnostics) {
  if (in_bounds(value, info)) return true;
  diagnostics.error(node.where, fmt::format("'{}' must be {}; got {}", info.key, range_of(info), node.text));
  return false;
}

// The number that a plain scalar is, without unit.
std::optional<double> plain_number(const YamlNode& node, const FieldInfo& info, std::string_view wanted,
                                   Diagnostics& diagnostics) {
  if (!node.is_scalar()) {
    report_not(node, info, wanted, diagnostics);
    return std::nullopt;
  }
  if (node.quoted) {
    diagnostics.error(node.where, fmt::format("'{}' must be {}; a quoted text is none", info.key, wanted), "leave the quotes out");
    return std::nullopt;
  }
  const auto parsed = parse_quantity(node.text, Dimension::number);
  if (const auto* value = std::get_if<double>(&parsed)) return *value;
  const auto& error = std::get<QuantityError>(parsed);
  diagnostics.error(node.where, fmt::format("'{}' {}; got {}", info.key, error.message, in_quotes(node.text)),
                    error.suggestion.empty() ? "" : fmt::format("write '{}'", error.suggestion));
  return std::nullopt;
}

}  // namespace

std::string written(const std::string& text) { return yaml_scalar(text); }

std::string written(const std::string& value, Tag tag, const std::string& source) {
  if (source.empty()) return value;
  return fmt::format("{{value: {}, tag: {}, source: {}}}", value, name_of(tag), yaml_scalar(source));
}

void report_not(const YamlNode& node, const FieldInfo& info, std::string_view wanted, Diagnostics& diagnostics) {
  report_mismatch(node, fmt::format("'{}'", info.key), wanted, diagnostics);
}

std::optional<double> read_number(const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) {
  std::optional<double> value;
  if (info.dimension == Dimension::number) {
    value = plain_number(node, info, "a number", diagnostics);
  } else if (!node.is_scalar()) {
    report_not(node, info, fmt::format("a {} such as {}", name_of(info.dimension), example_of(info.dimension)), diagnostics);
  } else {
    const auto parsed = parse_quantity(node.text, info.dimension);
    if (const auto* error = std::get_if<QuantityError>(&parsed))
      diagnostics.error(node.where, fmt::format("'{}' {}; got {}", info.key, error->message, in_quotes(node.text)),
                        error->suggestion.empty() ? "" : fmt::format("write '{}'", error->suggestion));
    else value = std::get<double>(parsed);
  }
  return value && check_range(node, *value, info, diagnostics) ? value : std::nullopt;
}

std::optional<std::int64_t> read_integer(const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics,
                                         std::int64_t lowest, std::int64_t highest) {
  const auto number = plain_number(node, info, "a whole number", diagnostics);
  if (!number) return std::nullopt;
  std::string digits = node.text;
  std::erase(digits, '_');
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data() + digits.starts_with('+'), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) {  // "1e3", or beyond 64 bits
    if (*number != std::floor(*number)) {
      report_not(node, info, "a whole number", diagnostics);
      return std::nullopt;
    }
    if (std::abs(*number) <= kLargestExactInteger) value = static_cast<std::int64_t>(*number);
    else value = *number < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
    if (std::abs(*number) > kLargestExactInteger) lowest = value + 1, highest = value - 1;
  }
  if (value < lowest || value > highest) {
    report_not(node, info, fmt::format("a whole number from {} to {}", lowest, highest), diagnostics);
    return std::nullopt;
  }
  return check_range(node, static_cast<double>(value), info, diagnostics) ? std::optional(value) : std::nullopt;
}

std::optional<bool> read_boolean(const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) {
  static const std::vector<std::string> yes = {"yes", "on", "true", "1", "y"}, no = {"no", "off", "false", "0", "n"};
  if (!node.is_scalar()) {
    report_not(node, info, "true or false", diagnostics);
    return std::nullopt;
  }
  if (!node.quoted && (node.text == "true" || node.text == "false")) return node.text == "true";
  std::string word = node.text;
  std::ranges::transform(word, word.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  std::string meant;
  if (std::ranges::find(yes, word) != yes.end()) meant = "write 'true'";
  if (std::ranges::find(no, word) != no.end()) meant = "write 'false'";
  diagnostics.error(node.where, fmt::format("'{}' must be true or false; got {}", info.key, in_quotes(node.text)), meant);
  return std::nullopt;
}

std::optional<std::string> read_text(const YamlNode& node, const FieldInfo& info, Diagnostics& diagnostics) {
  if (!node.is_scalar()) {
    report_not(node, info, info.choices.empty() ? "a text" : fmt::format("one of {}", fmt::join(info.choices, ", ")), diagnostics);
    return std::nullopt;
  }
  if (!info.choices.empty() && std::ranges::find(info.choices, node.text) == info.choices.end()) {
    diagnostics.error(node.where,
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
      diagnostics.error(entry.key_where, fmt::format("unknown key {} in '{}', which holds value, tag and source", in_quotes(entry.key), info.key),
                        did_you_mean(entry.key, keys));
    }
  }
  const YamlNode* value = node.find("value");
  if (!value) diagnostics.error(node.where, fmt::format("'value' is required in '{}'", info.key));
  return value;
}

bool read_struct(void* object, const YamlNode& node, const StructInfo& info, const std::vector<ReadField>& read,
                 Diagnostics& diagnostics) {
  const int before = diagnostics.errors();
  if (!node.is_mapping()) {
    report_mismatch(node, info.name, "a mapping", diagnostics);
    return false;
  }
  const std::vector<std::string> keys = names_in(info.fields, &FieldInfo::key);
  for (const auto& entry : node.entries) {
    if (const FieldInfo* field = info.find(entry.key)) {
      read[static_cast<std::size_t>(field - info.fields.data())](object, entry.value, *field, diagnostics);
      continue;
    }
    const std::string meant = did_you_mean(entry.key, keys);
    auto& error = diagnostics.error(
        entry.key_where, fmt::format("unknown key {} in {}", in_quotes(entry.key), title(node, info.name)), meant);
    if (meant.empty()) error.notes.push_back(fmt::format("{} has {}", info.name, fmt::join(keys, ", ")));
  }
  for (const FieldInfo& field : info.fields)
    if (field.required && !node.find(field.key))
      diagnostics.error(node.where, fmt::format("'{}' is required: {}", field.key, field.text));
  return diagnostics.errors() == before;
}

const FamilyInfo::Member* read_tag(const YamlNode& node, const FamilyInfo& family, Diagnostics& diagnostics) {
  const std::vector<std::string> names = names_in(family.members, &FamilyInfo::Member::name);
  const std::string choices = fmt::format("{}", fmt::join(names, ", "));
  const YamlNode* tag = node.is_mapping() ? node.find(family.tag) : &node;
  if (!tag) {
    std::vector<std::string> fitting;  // kinds that have every key given
    for (const auto& member : family.members)
      if (std::ranges::all_of(node.entries, [&](const auto& entry) { return member.info->find(entry.key); }))
        fitting.push_back(member.name);
    diagnostics.error(node.where, fmt::format("'{}' is required in {}: one of {}", family.tag, family.name, choices),
                      fitting.size() == 1 ? fmt::format("add '{}: {}'", family.tag, fitting.front()) : "");
    return nullptr;
  }
  if (!tag->is_scalar()) {
    report_mismatch(*tag, fmt::format("'{}' of {}", family.tag, family.name), "one of " + choices, diagnostics);
    return nullptr;
  }
  const auto found = std::ranges::find(family.members, tag->text, &FamilyInfo::Member::name);
  if (found != family.members.end()) return &*found;
  diagnostics.error(tag->where, fmt::format("'{}' of {} must be one of {}; got {}", family.tag, family.name, choices, in_quotes(tag->text)),
                    did_you_mean(tag->text, names));
  return nullptr;
}

YamlNode without_tag(const YamlNode& node, const FamilyInfo& family) {
  if (!node.is_mapping()) return YamlNode::mapping(node.where);
  YamlNode out = node;
  out.erase(family.tag);
  return out;
}

}  // namespace detail
}  // namespace llmscape
