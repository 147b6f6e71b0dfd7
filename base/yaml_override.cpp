// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace llmscape {
namespace {

// One step of a path: `.key`, or `[name]` and `[3]` in brackets.
struct Step {
  std::string_view text;
  bool bracket = false;
  std::size_t start = 0;  // of `text` in the assignment
};

// An assignment taken apart; places point into it.
class Assignment {
 public:
  Assignment(std::string_view text, Diagnostics& diagnostics)
      : source_(std::make_shared<const SourceText>(SourceText{fmt::format("--set {}", text), std::string(text)})),
        text_(source_->text), diagnostics_(diagnostics) {}

  [[nodiscard]] SourceRange at(std::size_t start, std::size_t length) const {
    return {source_, 1, static_cast<int>(start) + 1, static_cast<int>(std::max<std::size_t>(length, 1))};
  }
  [[nodiscard]] SourceRange at(const Step& step) const { return at(step.start, step.text.size()); }
  // The path up to the step, without it: "hardware.devices".
  [[nodiscard]] std::string before(const Step& step) const {
    std::string_view path = text_.substr(0, step.start);
    if (!path.empty()) path.remove_suffix(1);
    return std::string(path);
  }

  // The steps before '='; nothing after reporting.
  std::optional<std::vector<Step>> path() {
    std::vector<Step> steps;
    std::size_t i = 0;
    while (i < text_.size() && text_[i] != '=') {
      const bool bracket = text_[i] == '[';
      if (bracket || (text_[i] == '.' && !steps.empty())) ++i;
      const std::size_t end = std::min(text_.find_first_of(bracket ? "]" : ".[=", i), text_.size());
      const Step step{text_.substr(i, end - i), bracket, i};
      if (step.text.empty() || (bracket && end == text_.size())) return malformed(i);
      steps.push_back(step);
      i = end + (bracket ? 1 : 0);
    }
    if (steps.empty() || i == text_.size()) return malformed(i);
    value_start_ = i + 1;
    return steps;
  }

  // The value behind '='. Its columns are those of the assignment.
  YamlNode value() {
    auto blanked = std::make_shared<const SourceText>(
        SourceText{source_->name, std::string(value_start_, ' ') + std::string(text_.substr(value_start_))});
    YamlNode node = read_yaml(std::move(blanked), diagnostics_);
    adopt(node);
    return node;
  }

 private:
  std::optional<std::vector<Step>> malformed(std::size_t where) {
    diagnostics_.error(at(where, 1), "an override is written PATH=VALUE", "for example workload.rate=12/s");
    return std::nullopt;
  }

  void adopt(YamlNode& node) {
    node.where.source = source_;
    node.origin = "--set";
    for (YamlNode& item : node.items) adopt(item);
    for (auto& entry : node.entries) {
      entry.key_where.source = source_;
      adopt(entry.value);
    }
  }

  std::shared_ptr<const SourceText> source_;
  std::string_view text_;
  Diagnostics& diagnostics_;
  std::size_t value_start_ = 0;
};

// What an item of a list is called: its name, else that of the preset which it is laid over.
const YamlNode* name_of(const YamlNode& item) {
  const YamlNode* name = item.find("name");
  if (!name) name = item.find("preset");
  return name && name->is_scalar() ? name : nullptr;
}

void report_no_item(const YamlNode& node, const Step& step, const Assignment& assignment, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const YamlNode& item : node.items)
    if (const YamlNode* name = name_of(item)) names.push_back(name->text);
  for (const auto& entry : node.entries) names.push_back(entry.key);
  const std::string path = in_quotes(assignment.before(step));
  auto& error = diagnostics.error(assignment.at(step),
                                  step.bracket ? fmt::format("{} has no item {}", path, in_quotes(step.text))
                                               : fmt::format("{} is a list: [name] or [number] chooses an item", path),
                                  did_you_mean(step.text, names));
  error.notes.push_back(names.empty() ? fmt::format("{} has {} items", path, node.items.size())
                                      : fmt::format("{} has {}", path, fmt::join(names, ", ")));
}

// The node that the step leads to, added to a mapping that lacks it; nullptr after reporting. Below a preset an item
// that is not there yet may be one that the preset brings: `merge` lays it on that.
YamlNode* follow(YamlNode& node, const Step& step, bool below_preset, const Assignment& assignment,
                 Diagnostics& diagnostics) {
  if (node.is_sequence() && step.bracket)
    if (const auto index = item_index(node, step.text)) return &node.items[*index];
  if (YamlNode* present = node.find(step.text)) return present;
  if (node.is_sequence() || (step.bracket && !below_preset && !node.is_scalar())) {
    report_no_item(node, step, assignment, diagnostics);
  } else if (node.is_mapping() || node.kind == YamlNode::Kind::null) {
    YamlNode added;
    added.where = assignment.at(step);
    added.origin = "--set";
    return &node.set(step.text, std::move(added));
  } else if (node.is_scalar()) {
    diagnostics.error(assignment.at(step), fmt::format("{} is {} and holds no {}", in_quotes(assignment.before(step)),
                                                       in_quotes(node.text), in_quotes(step.text)));
  }
  return nullptr;
}

}  // namespace

std::optional<std::size_t> item_index(const YamlNode& sequence, std::string_view text) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error == std::errc() && end == text.data() + text.size())
    return index < sequence.items.size() ? std::optional(index) : std::nullopt;
  for (std::size_t i = 0; i < sequence.items.size(); ++i) {
    const YamlNode* name = name_of(sequence.items[i]);
    if (name && name->text == text) return i;
  }
  return std::nullopt;
}

void apply_override(YamlNode& root, std::string_view text, Diagnostics& diagnostics) {
  Assignment assignment(text, diagnostics);
  const auto path = assignment.path();
  if (!path) return;
  YamlNode* node = &root;
  bool below_preset = false;
  for (const Step& step : *path) {
    below_preset = below_preset || std::as_const(*node).find("preset");
    node = follow(*node, step, below_preset, assignment, diagnostics);
    if (!node) return;
  }
  *node = assignment.value();
}

std::vector<std::string> override_path(const YamlNode& root, std::string_view path) {
  Diagnostics unheard;
  Assignment assignment(fmt::format("{}=", path), unheard);
  const auto steps = assignment.path();
  if (!steps) return {std::string(path)};
  std::vector<std::string> places;
  const YamlNode* node = &root;
  for (const Step& step : *steps) {
    places.emplace_back(step.text);
    if (!node) continue;
    if (!node->is_sequence() || !step.bracket) {
      node = node->find(step.text);
    } else if (const auto index = item_index(*node, step.text)) {
      places.back() = std::to_string(*index);
      node = &node->items[*index];
    } else {
      node = nullptr;
    }
  }
  return places;
}

}  // namespace llmscape
