// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_lines.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llmscape {
namespace {

bool is_null_word(std::string_view text) { return text == "~" || text == "null" || text == "Null" || text == "NULL"; }

bool is_plain(std::string_view text) {
  if (text.empty() || is_null_word(text) || text == "<<" || text.front() == ' ' || text.back() == ' ') return false;
  if (text.starts_with(kByteOrderMark)) return false;  // at the start of a file it is no part of the text
  if (text.starts_with("---") || text.starts_with("...") || text == "-" || text.starts_with("- ")) return false;
  if (std::string_view("?:#&*!|>'\"%@`=").find(text.front()) != std::string_view::npos || text.back() == ':')
    return false;
  if (text.find_first_of(",[]{}?") != std::string_view::npos) return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) return false;
  return std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

std::string in_double_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) out += fmt::format("\\x{:02x}", c);
    else out += c;
  }
  return out + '"';
}

bool is_container(const YamlNode& node) { return node.is_mapping() || node.is_sequence(); }

class Writer {
 public:
  Writer(bool mappings_on_one_line, std::size_t width) : mappings_on_one_line_(mappings_on_one_line), width_(width) {}

  // Writes the children of a container as a block whose first line begins with `start`, the others with `indent`
  // spaces.
  void block(const YamlNode& node, std::string start, std::size_t indent) {
    const auto next = [&] { return std::exchange(start, std::string(indent, ' ')); };
    for (const auto& entry : node.entries) {
      const std::string head = next() + yaml_scalar(entry.key) + ':';
      if (one_line(entry.value, head.size() + 1)) {
        lines.push_back({head + ' ' + yaml_flow(entry.value), &entry.value});
      } else {
        lines.push_back({head, nullptr});
        block(entry.value, std::string(indent + 2, ' '), indent + 2);
      }
    }
    for (const YamlNode& item : node.items) {
      const std::string head = next() + "- ";
      if (one_line(item, head.size())) lines.push_back({head + yaml_flow(item), &item});
      else block(item, head, indent + 2);
    }
  }

  std::vector<YamlLine> lines;

 private:
  [[nodiscard]] bool one_line(const YamlNode& node, std::size_t column) const {
    if (!is_container(node) || (node.items.empty() && node.entries.empty())) return true;
    if (node.is_mapping() && !mappings_on_one_line_) return false;
    return std::ranges::none_of(node.items, is_container) &&
           std::ranges::none_of(node.entries, is_container, &YamlNode::Entry::value) &&
           column + yaml_flow(node).size() <= width_;
  }

  bool mappings_on_one_line_;
  std::size_t width_;
};

}  // namespace

std::string yaml_flow(const YamlNode& node) {
  std::vector<std::string> parts;
  switch (node.kind) {
    case YamlNode::Kind::null:
    case YamlNode::Kind::invalid: return "null";
    case YamlNode::Kind::scalar: return yaml_scalar(node.text, node.quoted);
    case YamlNode::Kind::sequence:
      for (const YamlNode& item : node.items) parts.push_back(yaml_flow(item));
      return fmt::format("[{}]", fmt::join(parts, ", "));
    case YamlNode::Kind::mapping:
      for (const auto& entry : node.entries)
        parts.push_back(fmt::format("{}: {}", yaml_scalar(entry.key), yaml_flow(entry.value)));
      return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
  return {};
}

std::string yaml_scalar(std::string_view text, bool quoted) {
  return quoted || !is_plain(text) ? in_double_quotes(text) : std::string(text);
}

std::vector<YamlLine> yaml_lines(const YamlNode& node, bool mappings_on_one_line, std::size_t width) {
  if (!is_container(node) || (node.items.empty() && node.entries.empty())) return {{yaml_flow(node), &node}};
  Writer writer(mappings_on_one_line, width);
  writer.block(node, "", 0);
  return std::move(writer.lines);
}

std::string write_yaml(const YamlNode& node) {
  std::string out;
  for (const YamlLine& line : yaml_lines(node, true)) out += line.text + '\n';
  return out;
}

}  // namespace llmscape
