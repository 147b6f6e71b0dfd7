// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/numeric_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/field_info.hpp"

namespace llmscape::explore {
namespace {

// One step of a path: `.key`, or `[item]`.
struct Step {
  std::string text;
  bool item = false;
  std::size_t start = 0;
};

std::vector<Step> steps_of(const std::string& path) {
  std::vector<Step> steps;
  for (std::size_t at = 0; at < path.size();) {
    const bool item = path[at] == '[';
    if (item || (path[at] == '.' && !steps.empty())) ++at;
    const std::size_t end = std::min(path.find_first_of(item ? "]" : ".[", at), path.size());
    steps.push_back({path.substr(at, end - at), item, at});
    at = end + (item ? 1 : 0);
  }
  return steps;
}

// Goes down the field tables and the resolved tree side by side. The tree may end before the path does: what has no
// default stands in the tables only.
class Walk {
 public:
  Walk(const std::string& path, const std::string& source, Diagnostics& diagnostics)
      : source_(std::make_shared<const SourceText>(SourceText{fmt::format("{} {}", source, path), path})),
        steps_(steps_of(path)), diagnostics_(diagnostics) {}

  // The field that the path leads to; nullptr after reporting.
  const FieldInfo* to_field(const YamlNode& root, const StructInfo& info) {
    node_ = &root;
    return in_struct(info);
  }
  [[nodiscard]] const YamlNode* node() const { return node_; }
  [[nodiscard]] SourceRange whole_path() const {
    return {source_, 1, 1, static_cast<int>(std::max<std::size_t>(1, source_->text.size()))};
  }

 private:
  const FieldInfo* in_struct(const StructInfo& info) {
    if (at_ == steps_.size()) return fail("this is no number but a group of settings", keys_of(info));
    const Step& step = steps_[at_];
    const FieldInfo* field = info.find(step.text);
    if (!field || step.item)
      return fail(fmt::format("unknown key {} in {}", in_quotes(step.text), info.name), keys_of(info));
    ++at_;
    if (node_) node_ = node_->find(step.text);
    return in_field(*field);
  }

  const FieldInfo* in_field(const FieldInfo& field) {
    if (field.list || field.map) {
      if (!to_item(field)) return nullptr;
    }
    if (field.group) return in_struct(*field.group);
    if (!field.family)
      return at_ == steps_.size() ? &field : fail(fmt::format("'{}' holds nothing", field.key), std::string());
    const YamlNode* tag = node_ ? node_->find(field.family->tag) : nullptr;
    const auto& members = field.family->members;
    const auto member = std::ranges::find(members, tag ? tag->text : "", &FamilyInfo::Member::name);
    if (member != members.end()) return in_struct(*member->info);
    return fail(fmt::format("the scenario has no {} there", field.family->name), std::string());
  }

  bool to_item(const FieldInfo& field) {
    std::vector<std::string> names;
    if (node_)
      for (const YamlNode& item : node_->items)
        if (const YamlNode* name = item.find("name")) names.push_back(name->text);
    if (node_)
      for (const YamlNode::Entry& entry : node_->entries) names.push_back(entry.key);
    if (at_ == steps_.size() || (field.list && !steps_[at_].item)) {
      fail(fmt::format("'{}' is a list: say which of them", field.key),
           names.empty() ? "for example [0]" : fmt::format("for example [{}]", names.front()));
      return false;
    }
    const std::string& wanted = steps_[at_].text;
    const YamlNode* found = node_ ? item_of(*node_, wanted) : nullptr;
    if (!found) {
      fail(fmt::format("'{}' has no item {}", field.key, in_quotes(wanted)), did_you_mean(wanted, names));
      return false;
    }
    node_ = found;
    ++at_;
    return true;
  }

  static const YamlNode* item_of(const YamlNode& node, const std::string& wanted) {
    std::size_t index = 0;
    const char* end = wanted.data() + wanted.size();
    if (std::from_chars(wanted.data(), end, index).ptr == end && index < node.items.size()) return &node.items[index];
    for (const YamlNode& item : node.items)
      if (const YamlNode* name = item.find("name"); name && name->text == wanted) return &item;
    return node.find(wanted);
  }

  static std::vector<std::string> keys_of(const StructInfo& info) {
    std::vector<std::string> keys;
    for (const FieldInfo& field : info.fields) keys.push_back(field.key);
    return keys;
  }

  const FieldInfo* fail(const std::string& message, const std::vector<std::string>& known) {
    const bool ended = at_ == steps_.size();
    std::string suggestion = ended ? "" : did_you_mean(steps_[at_].text, known);
    if (suggestion.empty() && !known.empty()) suggestion = fmt::format("one of {}", fmt::join(known, ", "));
    return fail(message, suggestion);
  }
  const FieldInfo* fail(const std::string& message, const std::string& suggestion) {
    SourceRange where = whole_path();
    if (at_ < steps_.size()) {
      where.column = static_cast<int>(steps_[at_].start) + 1;
      where.length = static_cast<int>(std::max<std::size_t>(1, steps_[at_].text.size()));
    }
    diagnostics_.error(where, message, suggestion);
    return nullptr;
  }

  std::shared_ptr<const SourceText> source_;
  std::vector<Step> steps_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  const YamlNode* node_ = nullptr;  // where the steps before `at_` lead; nullptr beyond the tree
};

struct Split {
  double value = 0;
  std::string unit;
};

// "12 /s" is 12 and "/s"; nothing where it is no number.
std::optional<Split> split(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  while (text.ends_with(' ')) text.remove_suffix(1);
  const std::size_t end = std::min(text.find_first_not_of("0123456789.eE+-_"), text.size());
  const auto value = parse_quantity(text.substr(0, end), Dimension::number);
  if (!std::holds_alternative<double>(value)) return std::nullopt;
  const std::size_t unit = std::min(text.find_first_not_of(' ', end), text.size());
  return Split{std::get<double>(value), std::string(text.substr(unit))};
}

}  // namespace

std::string NumericPath::written(double value) const {
  return fmt::format("{}{}{}", value, unit.empty() ? "" : " ", unit);
}

std::optional<NumericPath> find_numeric_path(const scenario::Scenario& scenario, const std::string& path,
                                             const std::string& source, Diagnostics& diagnostics) {
  Walk walk(path, source, diagnostics);
  const FieldInfo* field = walk.to_field(scenario.resolved, scenario::scenario_fields().info());
  if (!field) return std::nullopt;
  const bool numeric =
      field->kind == ValueKind::integer || field->kind == ValueKind::number || field->kind == ValueKind::quantity;
  if (!numeric) {
    diagnostics.error(walk.whole_path(), fmt::format("'{}' is no number", field->key));
    return std::nullopt;
  }
  NumericPath number{path, field->dimension, field->kind == ValueKind::integer, "", std::nullopt};
  const YamlNode* scalar = walk.node();
  if (scalar && scalar->is_mapping()) scalar = scalar->find("value");
  if (const auto own = scalar ? split(scalar->text) : std::nullopt) {
    number.own = own->value;
    number.unit = own->unit;
  }
  return number;
}

std::optional<Ends> read_ends(NumericPath& number, const std::string& text, const std::string& source,
                              Diagnostics& diagnostics) {
  const auto mistake = [&](const std::string& message, const std::string& suggestion) {
    const int length = static_cast<int>(std::max<std::size_t>(1, text.size()));
    diagnostics.error({std::make_shared<const SourceText>(SourceText{source + ' ' + text, text}), 1, 1, length},
                      message, suggestion);
    return std::nullopt;
  };
  const auto one = split(example_of(number.dimension));
  const std::string example = number.dimension == Dimension::number || !one
                                  ? "1,64"
                                  : fmt::format("{0} {2},{1} {2}", one->value, 2 * one->value, one->unit);
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return mistake("two ends are written LOW,HIGH", "like " + example);
  const auto low = split(text.substr(0, comma)), high = split(text.substr(comma + 1));
  if (!low || !high || low->unit != high->unit)
    return mistake("these are no two numbers of one unit", "like " + example);
  if (number.own && low->unit != number.unit)
    return mistake(fmt::format("the scenario says {}", in_quotes(number.written(*number.own))), "use the same unit");
  number.unit = low->unit;
  const auto value = parse_quantity(number.written(low->value), number.dimension);
  if (const auto* wrong = std::get_if<QuantityError>(&value))
    return mistake(fmt::format("{} {}", in_quotes(number.written(low->value)), wrong->message), wrong->suggestion);
  if (low->value > high->value && high->value > 0)
    return mistake("the first end must be below the second one",
                   fmt::format("did you mean '{},{}'?", number.written(high->value), number.written(low->value)));
  if (!(low->value > 0 && high->value > low->value))
    return mistake("the first end must be above 0, and the second one above the first", "like " + example);
  return Ends{low->value, high->value};
}

}  // namespace llmscape::explore
