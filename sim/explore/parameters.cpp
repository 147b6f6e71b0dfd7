// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/field_info.hpp"

namespace llmscape::explore {
namespace {

// Groups that say how good a fit is, or correct it shape by shape.
constexpr std::array<std::string_view, 2> kOfFits = {"residuals", "correction"};

struct Place {
  std::string path, override;
  [[nodiscard]] Place under(std::string_view key) const {
    return {fmt::format("{}.{}", path, key), fmt::format("{}.{}", override, key)};
  }
};

class Collector {
 public:
  std::vector<Parameter> all;

  void visit(const YamlNode& node, const StructInfo& info, const Place& place) {
    for (const auto& entry : node.entries)
      if (const FieldInfo* field = info.find(entry.key);
          field && std::ranges::find(kOfFits, entry.key) == kOfFits.end())
        visit(entry.value, *field, place.under(entry.key));
  }

 private:
  void visit(const YamlNode& node, const FieldInfo& field, const Place& place) {
    const bool of_many = field.list || field.map;
    if (field.kind != ValueKind::group && field.kind != ValueKind::family) {
      if (!of_many) visit_number(node, field, place);
      return;
    }
    if (!of_many) return visit_one(node, field, place);
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const YamlNode* name = node.items[i].find("name");
      visit_one(node.items[i], field,
                {fmt::format("{}[{}]", place.path, name && name->is_scalar() ? name->text : std::to_string(i)),
                 fmt::format("{}[{}]", place.override, i)});
    }
    for (const auto& entry : node.entries) visit_one(entry.value, field, place.under(entry.key));
  }

  void visit_one(const YamlNode& node, const FieldInfo& field, const Place& place) {
    if (field.group) return visit(node, *field.group, place);
    const YamlNode* tag = node.find(field.family->tag);
    const auto member = std::ranges::find(field.family->members, tag ? tag->text : "", &FamilyInfo::Member::name);
    if (member != field.family->members.end()) visit(node, *member->info, place);
  }

  void visit_number(const YamlNode& node, const FieldInfo& field, const Place& place) {
    if (field.kind != ValueKind::number && field.kind != ValueKind::quantity) return;
    const YamlNode* scalar = node.is_mapping() ? node.find("value") : &node;
    if (!scalar || !scalar->is_scalar()) return;
    const auto value = parse_quantity(scalar->text, field.dimension);
    const double* si = std::get_if<double>(&value);
    if (!si || *si == 0) return;
    const std::string override = node.is_mapping() ? place.override + ".value" : place.override;
    all.push_back({place.path, override, scalar->text, *si, field.dimension});
  }
};

}  // namespace

std::vector<Parameter> hardware_parameters(const scenario::Scenario& scenario) {
  Collector collector;
  const FieldInfo& hardware = *scenario::scenario_fields().info().find("hardware");
  if (const YamlNode* node = scenario.resolved.find("hardware"))
    collector.visit(*node, *hardware.group, {"hardware", "hardware"});
  return std::move(collector.all);
}

std::string scaled(const Parameter& parameter, double factor) {
  return fmt::format("{}={}", parameter.override, format_quantity(parameter.value * factor, parameter.dimension));
}

}  // namespace llmscape::explore
