// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page_columns.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

#include "base/expression.hpp"
#include "sim/explore/axis_role.hpp"
#include "sim/explore/comparable.hpp"
#include "sim/report/frontier.hpp"
#include "sim/report/page_points.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::report {
namespace {

using explore::Configuration;
using explore::Estimate;
using Json = nlohmann::ordered_json;
using metrics::Better;
using Guarded = std::vector<const metrics::Column*>;

constexpr int kDigits = 6;
constexpr std::size_t kMostGroups = 12;  // that colours and shapes still tell apart

Json number(double value) { return rounded(Json(value), kDigits); }

std::string_view name_of(Better better) {
  return better == Better::higher ? "higher" : better == Better::lower ? "lower" : "neither";
}

// The texts of an axis in the order of the plan, their numbers if all are some, and which of them each configuration
// has.
Json axis_json(const std::vector<Configuration>& all, std::size_t axis) {
  std::vector<std::string> texts;
  std::vector<std::size_t> of;
  for (const Configuration& one : all) {
    const auto known = std::ranges::find(texts, one.values[axis]);
    of.push_back(static_cast<std::size_t>(known - texts.begin()));
    if (known == texts.end()) texts.push_back(one.values[axis]);
  }
  Json numbers = Json::array();
  for (const std::string& text : texts) {
    const Value value = value_of(text);
    if (const double* as_number = std::get_if<double>(&value)) numbers.push_back(number(*as_number));
  }
  std::vector<std::string> conditions;
  for (const std::string& text : texts) conditions.push_back(in_condition(text));
  Json json = {{"texts", texts}, {"numbers", numbers.size() == texts.size() ? numbers : Json()}, {"of", of}};
  if (conditions != texts) json["conditions"] = conditions;
  return json;
}

}  // namespace

PageColumns::PageColumns(const explore::ResultsTable& table)
    : table_(table), configurations_(explore::configurations(table)) {
  const std::vector<std::string> shorts = explore::short_names(table.axes);
  const std::vector<explore::AxisRole> roles = explore::axis_roles(table);
  for (std::size_t i = 0; i < table.axes.size(); ++i) {
    axes_.push_back({{"name", table.axes[i]},
                     {"short", shorts[i]},
                     {"role", explore::kAxisRoleNames[static_cast<std::size_t>(roles[i])]}});
    axes_.back().update(axis_json(configurations_, i));
  }
  std::vector<std::optional<Estimate>> values(configurations_.size());
  const std::string money = explore::currency_of(table);
  for (std::size_t i = 0; i < metrics::columns().size(); ++i) {
    const metrics::Column& column = metrics::columns()[i];
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = configurations_[k].metrics[i];
    add_metric(column.name, column.metric->unit == "currency" ? std::string_view(money) : column.metric->unit,
               name_of(column.metric->better), column.metric->text,
               {explore::counts_joules(column), explore::counts_money(column), explore::counts_emitted(column)},
               explore::instead_of(*column.metric).empty() ? Guarded() : Guarded{&column}, values);
  }
}

void PageColumns::add_metric(const std::string& name, std::string_view unit, std::string_view better,
                             std::string_view definition, const explore::Counted& counted, const Guarded& guarded,
                             const std::vector<std::optional<Estimate>>& values) {
  if (std::ranges::none_of(values, [](const auto& value) { return value.has_value(); })) return;
  const auto part = [&values](double Estimate::* of) {
    Json list = Json::array();
    for (const auto& value : values) list.push_back(value ? number((*value).*of) : Json());
    return list;
  };
  Json metric = {{"name", name}, {"unit", unit}, {"better", better}, {"definition", definition}};
  if (counted.joules) metric["joules"] = true;
  if (counted.money) metric["money"] = true;
  if (counted.emitted) metric["emitted"] = true;
  std::set<std::string_view> over;
  for (const metrics::Column* column : guarded) over.insert(explore::is_sum(*column->metric) ? "window" : "slices");
  if (!over.empty()) {
    metric["over"] = over;
    metric["instead"] = explore::instead_of(*guarded.front()->metric);
  }
  metric["values"] = part(&Estimate::value);
  if (std::ranges::any_of(values, [](const auto& value) { return value && value->low < value->high; })) {
    metric["low"] = part(&Estimate::low);
    metric["high"] = part(&Estimate::high);
  }
  metrics_.push_back(std::move(metric));
}

std::string PageColumns::of(const explore::Objective& objective) {
  const auto among = [](const Json& columns, const std::string& name) {
    return std::ranges::any_of(columns, [&name](const Json& column) { return column["name"] == name; });
  };
  if (const metrics::Column* column = metrics::find_column(objective.expression.text()))
    return among(metrics_, column->name) ? column->name : "";
  if (const auto axis = explore::find_axis(table_.axes, objective.expression.text()))
    return axes_[*axis]["numbers"].is_null() ? "" : table_.axes[*axis];
  if (!among(metrics_, objective.name)) {
    std::vector<std::optional<Estimate>> values;
    for (const Configuration& one : configurations_) values.push_back(estimate_of(objective, table_, one));
    add_metric(objective.name, objective.unit, objective.maximize ? "higher" : "lower", objective.expression.text(),
               explore::counted_in({objective}), explore::guarded_in(objective.expression), values);
  }
  return among(metrics_, objective.name) ? objective.name : "";
}

std::string PageColumns::default_group() const {
  const auto names_hardware = [](const Json& axis) { return axis["numbers"].is_null() && axis["role"] == "hardware"; };
  const auto names_things = [](const Json& axis) { return axis["numbers"].is_null(); };
  const auto any = [](const Json&) { return true; };
  for (const auto& wanted : {std::function<bool(const Json&)>(names_hardware), {names_things}, {any}})
    for (const Json& axis : axes_)
      if (axis["texts"].size() > 1 && axis["texts"].size() <= kMostGroups && wanted(axis)) return axis["name"];
  return "";
}

}  // namespace llmscape::report
