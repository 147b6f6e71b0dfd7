// SPDX-License-Identifier: Apache-2.0
#include "base/fields.hpp"
#include "base/yaml_lines.hpp"

#include <fmt/format.h>

namespace llmscape::detail {

YamlNode number_node(double si, Dimension dimension, int digits) {
  const double shown = digits > 0 ? std::stod(fmt::format("{:.{}g}", si, digits)) : si;
  return YamlNode::scalar(format_quantity(shown, dimension));
}

YamlNode sourced_node(YamlNode value, Tag tag, const std::string& source) {
  if (source.empty() && tag == Tag::assumed) return value;
  YamlNode node = YamlNode::mapping({});
  node.set("value", std::move(value));
  node.set("tag", YamlNode::scalar(std::string(name_of(tag))));
  if (!source.empty()) node.set("source", YamlNode::scalar(source));
  return node;
}

YamlNode list_of(std::vector<YamlNode> items) {
  YamlNode node;
  node.kind = YamlNode::Kind::sequence;
  node.items = std::move(items);
  return node;
}

std::optional<std::string> flow_of(const std::optional<YamlNode>& node) {
  return node ? std::optional(yaml_flow(*node)) : std::nullopt;
}

std::optional<YamlNode> unless_default(std::optional<YamlNode> value, const std::optional<YamlNode>& absent,
                                       const FieldInfo& info) {
  if (value && !info.required && flow_of(value) == flow_of(absent)) value.reset();
  return value;
}

YamlNode write_struct(const void* object, const void* absent, const StructInfo& info,
                      const std::vector<std::shared_ptr<const FieldAccess>>& access, int digits) {
  YamlNode node = YamlNode::mapping({});
  for (std::size_t i = 0; i < info.fields.size(); ++i)
    if (auto value = access[i]->write(object, absent, info.fields[i], digits))
      node.set(info.fields[i].key, std::move(*value));
  return node;
}

YamlNode with_tag(const std::string& tag, const std::string& name, YamlNode fields) {
  YamlNode node = YamlNode::mapping({});
  node.set(tag, YamlNode::scalar(name));
  for (auto& entry : fields.entries) node.entries.push_back(std::move(entry));
  return node;
}

YamlNode with_bare_key(const YamlNode& node, const FieldInfo& info) {
  if (info.bare.empty() || !node.is_scalar()) return node;
  YamlNode mapping = YamlNode::mapping(node.where);
  mapping.origin = node.origin;
  mapping.set(info.bare, node);
  return mapping;
}

}  // namespace llmscape::detail
