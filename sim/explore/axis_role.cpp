// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/axis_role.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/yaml_reader.hpp"
#include "sim/explore/objective.hpp"

namespace llmscape::explore {
namespace {

AxisRole role_of_path(std::string_view path) {
  static const std::set<std::string_view> kPlan = {"tensor_parallel",  "pipeline_parallel", "pipeline_batches",
                                                   "pipeline_chunks",  "expert_parallel",   "data_parallel",
                                                   "redundant_experts"};
  static const std::set<std::string_view> kLoad = {"rate", "users", "speedup", "requests", "duration", "warmup"};
  const std::string_view key = path.substr(path.rfind('.') + 1);
  if (path == "horizon") return AxisRole::load;
  if (path.starts_with("hardware") || kPlan.contains(key)) return AxisRole::hardware;
  if (path.starts_with("workload") && kLoad.contains(key)) return AxisRole::load;
  return path.starts_with("serving") ? AxisRole::serving : AxisRole::workload;
}

// Of an axis of variants, what any of them sets: a machine comes with its formats and its plan.
AxisRole role_of_variants(const YamlNode& variants) {
  AxisRole role = AxisRole::workload;
  bool first = true;
  for (const YamlNode::Entry& variant : variants.entries)
    for (const YamlNode::Entry& set : variant.value.entries) {
      const AxisRole one = role_of_path(set.key);
      if (one == AxisRole::hardware) return one;
      if (first) role = one;
      else if (role != one) role = AxisRole::workload;
      first = false;
    }
  return role;
}

// Where no plan says what a name stands for.
AxisRole role_of_name(const std::string& name) {
  const bool machine = name.find("hardware") != name.npos || name.find("device") != name.npos;
  const bool load = name == "rate" || name == "users" || name == "concurrency";
  return machine ? AxisRole::hardware : load ? AxisRole::load : role_of_path(name);
}

}  // namespace

std::vector<AxisRole> axis_roles(const ResultsTable& table) {
  YamlNode plan;
  Diagnostics unheard;  // results without their plan are no mistake
  if (const auto file = table.folder / "plan.yaml"; !table.folder.empty() && std::filesystem::exists(file))
    plan = read_yaml_file(file, unheard);
  const YamlNode* variants = plan.find("variants");
  std::vector<AxisRole> roles;
  for (const std::string& axis : table.axes) {
    const YamlNode* set = variants ? variants->find(axis) : nullptr;
    roles.push_back(set ? role_of_variants(*set) : role_of_name(axis));
  }
  return roles;
}

std::vector<Slice> comparable_slices(const ResultsTable& table, std::optional<std::size_t> group,
                                     const Counted& counted) {
  const std::vector<AxisRole> roles = axis_roles(table);
  std::vector<std::size_t> fixed;
  for (std::size_t axis = 0; axis < roles.size(); ++axis) {
    const bool asked = roles[axis] == AxisRole::serving && group == axis;
    const auto varies = [&](const ResultRow& row) { return row.values[axis] != table.rows.front().values[axis]; };
    if (roles[axis] != AxisRole::hardware && roles[axis] != AxisRole::load && !asked &&
        std::ranges::any_of(table.rows, varies))
      fixed.push_back(axis);
  }
  const bool unlike_joules = counted.joules && std::ranges::any_of(table.rows, [&](const ResultRow& row) {
                               return row.energy_boundary != table.rows.front().energy_boundary;
                             });
  const bool unlike_money = counted.money && currencies_of(table).size() > 1;
  const std::vector<std::string> shorts = short_names(table.axes);
  std::vector<Slice> slices;
  std::map<std::vector<std::string>, std::size_t> known;
  for (const ResultRow& row : table.rows) {
    std::vector<std::string> names, values;
    for (const std::size_t axis : fixed) {
      names.push_back(shorts[axis]);
      values.push_back(row.values[axis]);
    }
    if (unlike_joules) {
      names.emplace_back("energy_boundary");
      values.push_back(row.energy_boundary);
    }
    if (unlike_money) {
      names.emplace_back("currency");
      values.push_back(row.currency);
    }
    const auto [place, is_new] = known.emplace(values, slices.size());
    if (is_new) slices.push_back({label_of(names, values), names, values, {table.folder, table.axes, {}}});
    slices[place->second].table.rows.push_back(row);
  }
  return slices;
}

ResultsTable rows_where(const ResultsTable& table, const Expression& condition) {
  ResultsTable left{table.folder, table.axes, {}, table.failed};
  for (const Configuration& one : configurations(table))
    if (condition.holds(lookup_in(table, one)))
      for (const std::size_t row : one.rows) left.rows.push_back(table.rows[row]);
  return left;
}

}  // namespace llmscape::explore
