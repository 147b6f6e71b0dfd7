// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "sim/explore/pareto.hpp"
#include "sim/report/frontier.hpp"
#include "sim/report/page_columns.hpp"
#include "sim/report/page_points.hpp"
#include "sim/report/page_template.hpp"

namespace llmscape::report {
namespace {

using explore::Direction;
using explore::Objective;
using explore::ResultsTable;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostDetails = 300;  // points with time lines and curves: some 3 KB each

// A pair of axes to look at: what was asked for, and what is usual.
struct Chart {
  std::string name, text;
  std::vector<Objective> objectives;
};

std::vector<Chart> charts_of(const ResultsTable& table, const PageView& view) {
  std::vector<Chart> charts;
  if (view.objectives.size() > 1) charts.push_back({"objectives", "what was asked for", view.objectives});
  for (std::size_t k = 2; k < view.objectives.size(); ++k)
    charts.push_back({"objectives: " + view.objectives[k].name,
                      "what was asked for, the first against another",
                      {view.objectives[0], view.objectives[k]}});
  Diagnostics none;  // the names in these are known
  const auto add = [&](const std::string& name, const std::string& text, std::string_view maximize,
                       std::string_view minimize) {
    std::vector<Objective> objectives;
    for (const auto& [list, direction] : {std::pair(maximize, Direction::maximize), {minimize, Direction::minimize}})
      if (!list.empty())
        std::ranges::move(read_objectives(list, direction, name, table, none), std::back_inserter(objectives));
    charts.push_back({name, text, std::move(objectives)});
  };
  add("responsiveness", "tokens of a joule against the slowest first tokens", "output_tokens_per_joule", "ttft.p99");
  for (const auto& preset : explore::objective_presets())
    add(preset.name, preset.text, preset.maximize, preset.minimize);
  add("throughput", "tokens/s against the slowest first tokens", "output_tokens_per_s", "ttft.p99");
  return charts;
}

// Those of which there are values: {"name", "text", "y", "x", "better": {column: "higher", ...}}, ...
Json charts_json(const std::vector<Chart>& charts, PageColumns& columns) {
  Json json = Json::array();
  for (const Chart& chart : charts) {
    const std::string y = columns.of(chart.objectives[0]), x = columns.of(chart.objectives[1]);
    const bool known = std::ranges::any_of(json, [&](const Json& one) { return one["y"] == y && one["x"] == x; });
    if (y.empty() || x.empty() || known) continue;
    json.push_back({{"name", chart.name}, {"text", chart.text}, {"y", y}, {"x", x}});
    json.back()["better"] = {{y, chart.objectives[0].maximize ? "higher" : "lower"},
                             {x, chart.objectives[1].maximize ? "higher" : "lower"}};
  }
  return json;
}

// The configurations whose runs are drawn: all, or those on a frontier and an even sample.
std::set<std::size_t> drawn_in_detail(const ResultsTable& table, const std::vector<Objective>& objectives,
                                      const std::string& group, std::size_t count) {
  std::set<std::size_t> chosen;
  if (count > kMostDetails) {
    explore::ParetoQuery query;
    query.objectives = objectives;
    Diagnostics none;  // it is the name of an axis
    if (!group.empty()) query.group = Expression::parse(group, {}, none);
    for (const auto& point : explore::pareto(table, query).points)
      if (point.on_frontier && chosen.size() < kMostDetails / 2) chosen.insert(point.configuration);
  }
  const std::size_t left = kMostDetails - chosen.size(), every = (count + left - 1) / left;
  for (std::size_t i = 0; i < count; i += every) chosen.insert(i);
  return chosen;
}

// Scenarios of all points, and what the runs of some looked like.
void add_points(Json& json, const ResultsTable& table, const PageColumns& columns,
                const std::set<std::size_t>& detailed, Diagnostics& diagnostics) {
  json["details"] = Json::object();
  if (!std::filesystem::exists(table.folder / "points") && !std::filesystem::exists(table.folder / "run.json")) {
    const SourceText folder{(table.folder / "points").string(), ""};
    diagnostics.warning({std::make_shared<const SourceText>(folder)},
                        "not there: the report has no scenarios, time lines and distributions");
    json["scenarios"] = {{"lines", Json::array()}, {"texts", Json::array()}};
    return;
  }
  SharedLines lines;
  Json texts = Json::array();
  for (std::size_t i = 0; i < columns.configurations().size(); ++i) {
    const std::string& id = table.rows[columns.configurations()[i].rows.front()].id;
    const auto point = read_point(table.folder, id, diagnostics);
    texts.push_back(lines.add(point ? point->scenario : ""));
    if (!point || !detailed.contains(i)) continue;
    json["details"][std::to_string(i)] = point->detail;
    if (!point->levels.is_null()) json["levels"] = point->levels;
  }
  json["scenarios"] = {{"lines", lines.lines()}, {"texts", texts}};
}

// What of the manifest does not differ between two equal sweeps.
Json origin_of(const ResultsTable& table, const std::string& tool) {
  std::string error;
  const auto text = read_file(table.folder / "manifest.json", error);
  const Json manifest = text ? Json::parse(*text, nullptr, false) : Json();
  const auto at = [&manifest](const char* pointer) {
    const Json::json_pointer place(pointer);
    return manifest.contains(place) && manifest.at(place).is_string() ? manifest.at(place).get<std::string>() : "";
  };
  Json json = {{"page written by", tool}};
  if (!at("/tool/version").empty())
    json["runs made by"] = fmt::format("llmscape {} ({})", at("/tool/version"), at("/tool/revision"));
  if (const auto plan = read_file(table.folder / "plan.yaml", error))
    json["plan"] = fmt::format("plan.yaml, {}", content_hash(*plan));
  json["files"] = table.axes.empty() ? "run.json, scenario.resolved.yaml" : "results.csv, points/";
  return json;
}

std::string in_html(std::string_view text) {
  std::string safe;
  for (const char c : text)
    if (c == '&') safe += "&amp;";
    else if (c == '<') safe += "&lt;";
    else safe += c;
  return safe;
}

// Within a script element: no '<' that could end it.
std::string in_script(const Json& json) {
  std::string safe;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace))
    if (c == '<') safe += "\\u003c";
    else safe += c;
  return safe;
}

// The template with a title and data, which may say anything.
std::string filled(std::string_view text, const std::string& title, const std::string& data) {
  std::string page;
  for (std::size_t at = text.find('@'); at != text.npos; at = text.find('@')) {
    page += text.substr(0, at);
    text.remove_prefix(at);
    const std::string_view mark = text.starts_with("@TITLE@") ? "@TITLE@" : text.starts_with("@DATA@") ? "@DATA@" : "@";
    page += mark == "@" ? "@" : mark == "@DATA@" ? data : title;
    text.remove_prefix(mark.size());
  }
  return page.append(text);
}

}  // namespace

std::string page(const ResultsTable& table, const PageView& view, const std::string& tool, Diagnostics& diagnostics) {
  PageColumns columns(table);
  const std::vector<Chart> charts = charts_of(table, view);
  const std::string name = std::filesystem::weakly_canonical(table.folder / ".").filename().string();
  Json json = {{"schema", "report/1"}, {"name", name}};
  json["charts"] = charts_json(charts, columns);
  json["left_out"] = Json::array();  // of what was asked for: a plot has two axes
  for (std::size_t k = 2; k < view.objectives.size(); ++k)
    json["left_out"].push_back(
        {{"name", columns.of(view.objectives[k])}, {"better", view.objectives[k].maximize ? "higher" : "lower"}});
  json["axes"] = columns.axes();
  json["metrics"] = columns.metrics();
  for (const char* list : {"points", "ids", "runs", "verdicts", "energy_boundaries", "currencies"})
    json[list] = Json::array();
  for (const explore::Configuration& one : columns.configurations()) {
    const explore::ResultRow& first = table.rows[one.rows.front()];
    json["points"].push_back(first.point);
    json["ids"].push_back(first.id);
    json["runs"].push_back(one.rows.size());
    json["verdicts"].push_back(one.verdict);
    json["energy_boundaries"].push_back(one.energy_boundary);
    json["currencies"].push_back(one.currency);
  }
  json["group"] = view.group.empty() ? columns.default_group() : view.group;
  json["limits"] = Json::array();
  for (const PageView::Limit& limit : view.limits)
    json["limits"].push_back({{"name", limit.metric}, {"bound", limit.bound}, {"below", limit.below}});
  json["failed"] = failed_notice(table.failed);
  json["origin"] = origin_of(table, tool);
  if (!view.where.empty()) json["origin"]["configurations where"] = view.where;
  add_points(json, table, columns,
             drawn_in_detail(table, charts.front().objectives, json["group"], columns.configurations().size()),
             diagnostics);
  return filled(kPageTemplate, in_html(name), in_script(json));
}

}  // namespace llmscape::report
