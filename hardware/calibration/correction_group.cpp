// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/correction_group.hpp"

#include <fmt/format.h>

#include <utility>

namespace llmscape::hardware {
namespace {

YamlNode sequence() {
  YamlNode node;
  node.kind = YamlNode::Kind::sequence;
  return node;
}

YamlNode number(double value) { return YamlNode::scalar(fmt::format("{:.6g}", value)); }

YamlNode axis_of(const CorrectionAxis& axis) {
  YamlNode node = YamlNode::mapping({});
  node.set("feature", YamlNode::scalar(std::string(kFeatureNames[static_cast<std::size_t>(axis.feature)])));
  node.set("first", number(axis.first));
  node.set("octaves", number(axis.octaves));
  node.set("points", YamlNode::scalar(std::to_string(axis.points)));
  return node;
}

}  // namespace

YamlNode correction_group(const Correction& correction) {
  YamlNode tables = sequence();
  for (const CorrectionTable& table : correction.tables) {
    YamlNode axes = sequence(), percent = sequence();
    for (const CorrectionAxis& axis : table.axes) axes.items.push_back(axis_of(axis));
    for (const double value : table.percent) percent.items.push_back(number(value));
    YamlNode node = YamlNode::mapping({});
    node.set("axes", std::move(axes));
    node.set("percent", std::move(percent));
    tables.items.push_back(std::move(node));
  }
  YamlNode group = YamlNode::mapping({});
  group.set("source", YamlNode::scalar(correction.source, true));
  group.set("tables", std::move(tables));
  return group;
}

}  // namespace llmscape::hardware
