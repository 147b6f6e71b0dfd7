// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/explore/results_csv.hpp"
#include "sim/report/frontier.hpp"

namespace llmscape::report {
namespace {

using Json = nlohmann::ordered_json;
using explore::Frontier;
using explore::Objective;
using explore::ParetoPoint;

const explore::ResultRow& row_of(const FrontierView& view, const ParetoPoint& point) {
  return view.table.rows[view.answer.configurations[point.configuration].rows.front()];
}

// Empty: nothing that is to be told.
std::string standing_of(const ParetoPoint& point) {
  return point.on_frontier ? "frontier" : point.tied ? "tied" : point.alike.empty() ? "" : "alike";
}

bool is_knee(const FrontierView& view, const ParetoPoint& point) {
  const auto place = static_cast<std::size_t>(&point - view.answer.points.data());
  return view.answer.groups[point.group].knee == place;
}

Json objective_json(const Objective& objective) {
  return {{"name", objective.name},
          {"expression", objective.expression.text()},
          {"direction", objective.maximize ? "maximize" : "minimize"},
          {"unit", objective.unit}};
}

Json by_objective(const FrontierView& view, const std::vector<double>& values) {
  Json json = Json::object();
  for (std::size_t k = 0; k < values.size(); ++k) json[view.query.objectives[k].name] = values[k];
  return json;
}

Json point_json(const FrontierView& view, const ParetoPoint& point) {
  const auto& configuration = view.answer.configurations[point.configuration];
  const explore::ResultRow& row = row_of(view, point);
  Json json = {{"point", row.point}, {"id", row.id}, {"label", label_of(view, point.configuration)}};
  json["values"] = Json::object();
  for (std::size_t axis = 0; axis < view.table.axes.size(); ++axis)
    json["values"][view.table.axes[axis]] = configuration.values[axis];
  json["repeats"] = configuration.rows.size();
  json["verdict"] = configuration.verdict;
  for (std::size_t k = 0; k < point.values.size(); ++k)
    json["objectives"][view.query.objectives[k].name] = {
        {"value", point.values[k].value}, {"low", point.values[k].low}, {"high", point.values[k].high}};
  json["standing"] = standing_of(point);
  json["best_of_all"] = point.best_of_all;
  json["knee"] = is_knee(view, point);
  json["alike"] = Json::array();
  for (const std::size_t other : point.alike) json["alike"].push_back(row_of(view, view.answer.points[other]).point);
  return json;
}

Json group_json(const FrontierView& view, const Frontier& group) {
  Json points = Json::array();
  const auto place = static_cast<std::size_t>(&group - view.answer.groups.data());
  for (const std::size_t point : group.points) points.push_back(point_json(view, view.answer.points[point]));
  for (const ParetoPoint& point : view.answer.points)
    if (point.group == place && !point.on_frontier && !standing_of(point).empty())
      points.push_back(point_json(view, point));
  return {{"name", group.name},
          {"qualified", group.qualified},
          {"hypervolume", group.hypervolume},
          {"share", group.share},
          {"points", points}};
}

Json left_out_json(const FrontierView& view) {
  const auto& out = view.answer.left_out;
  Json json = {{"where", out.where}, {"invalid", out.invalid}, {"slo", out.slo}};
  for (std::size_t k = 0; k < out.lacking.size(); ++k) json["lacking"][view.query.objectives[k].name] = out.lacking[k];
  return json;
}

}  // namespace

std::string frontier_json(const FrontierView& view) {
  Json json = {{"schema", "pareto/1"}, {"winner", winner(view)}};
  if (const std::string notice = mixture_notice(view); !notice.empty()) json["notice"] = notice;
  for (const Objective& objective : view.query.objectives) json["objectives"].push_back(objective_json(objective));
  if (view.query.slo) json["slo"] = view.query.slo->text();
  if (view.query.where) json["where"] = view.query.where->text();
  if (view.query.group) json["group"] = view.query.group->text();
  if (view.query.groups_alone) json["groups_alone"] = true;
  json["epsilon"] = view.query.epsilon;
  json["configurations"] = view.answer.configurations.size();
  if (view.table.failed > 0) json["failed"] = view.table.failed;
  json["left_out"] = left_out_json(view);
  json["reference"] = by_objective(view, view.answer.reference);
  json["best"] = by_objective(view, view.answer.best);
  json["groups"] = Json::array();
  for (const Frontier& group : view.answer.groups) json["groups"].push_back(group_json(view, group));
  return json.dump(2) + '\n';
}

std::string frontier_csv(const FrontierView& view) {
  using explore::csv_cell;
  std::string csv = "group,point,id";
  for (const std::string& axis : view.table.axes) csv += ',' + csv_cell(axis);
  csv += ",verdict,standing,best_of_all,knee";
  for (const Objective& objective : view.query.objectives)
    csv += ',' + csv_cell(objective.name) + ',' + csv_cell(objective.name + ".low") + ',' +
           csv_cell(objective.name + ".high");
  csv += '\n';
  for (const ParetoPoint& point : view.answer.points) {
    const std::string standing = standing_of(point);
    if (standing.empty()) continue;
    const auto& configuration = view.answer.configurations[point.configuration];
    const explore::ResultRow& row = row_of(view, point);
    csv += fmt::format("{},{},{}", csv_cell(view.answer.groups[point.group].name), row.point, csv_cell(row.id));
    for (const std::string& value : configuration.values) csv += ',' + csv_cell(value);
    csv += fmt::format(",{},{},{},{}", configuration.verdict, standing, point.best_of_all, is_knee(view, point));
    for (const explore::Estimate& value : point.values)
      csv += fmt::format(",{},{},{}", value.value, value.low, value.high);
    csv += '\n';
  }
  return csv;
}

}  // namespace llmscape::report
