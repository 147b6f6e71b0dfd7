// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/expression.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "sim/report/page_points.hpp"
#include "sim/report/page_template.hpp"

namespace llmscape::report {
namespace {

using explore::Configuration;
using explore::Estimate;
using explore::ResultsTable;
using Json = nlohmann::ordered_json;
using metrics::Better;

constexpr int kDigits = 6;
constexpr std::size_t kMostDetails = 300;  // points with time lines and curves: some 3 KB each
constexpr std::size_t kMostGroups = 12;    // that colours and shapes still tell apart

Json number(double value) { return rounded(Json(value), kDigits); }

std::string_view name_of(Better better) {
  return better == Better::higher ? "higher" : better == Better::lower ? "lower" : "neither";
}

// The values of an axis in the order of the plan, and which of them each configuration has.
struct Axis {
  std::vector<std::string> texts;
  std::vector<std::size_t> of;
  Json numbers;  // of the texts; null where one is no number

  Axis(const std::vector<Configuration>& all, std::size_t axis) {
    for (const Configuration& one : all) {
      const auto known = std::ranges::find(texts, one.values[axis]);
      of.push_back(static_cast<std::size_t>(known - texts.begin()));
      if (known == texts.end()) texts.push_back(one.values[axis]);
    }
    for (const std::string& text : texts) {
      const Value value = value_of(text);
      const double* as_number = std::get_if<double>(&value);
      if (!as_number) {
        numbers = nullptr;
        return;
      }
      numbers.push_back(number(*as_number));
    }
  }
};

Json axes_of(const ResultsTable& table, const std::vector<Axis>& axes) {
  const std::vector<std::string> shorts = explore::short_names(table.axes);
  Json json = Json::array();
  for (std::size_t i = 0; i < axes.size(); ++i)
    json.push_back({{"name", table.axes[i]},
                    {"short", shorts[i]},
                    {"texts", axes[i].texts},
                    {"numbers", axes[i].numbers},
                    {"of", axes[i].of}});
  return json;
}

// Columns that at least one configuration has, each with its interval where there is one.
Json metrics_of(const std::vector<Configuration>& all) {
  Json json = Json::array();
  const auto part = [&all](std::size_t column, double Estimate::* of) {
    Json values = Json::array();
    for (const Configuration& one : all) {
      const auto& metric = one.metrics[column];
      values.push_back(metric ? number((*metric).*of) : Json());
    }
    return values;
  };
  for (std::size_t i = 0; i < metrics::columns().size(); ++i) {
    const metrics::Column& column = metrics::columns()[i];
    if (std::ranges::none_of(all, [i](const Configuration& one) { return one.metrics[i].has_value(); })) continue;
    Json& metric = json.emplace_back(Json{{"name", column.name},
                                          {"unit", column.metric->unit},
                                          {"better", name_of(column.metric->better)},
                                          {"definition", column.metric->text},
                                          {"values", part(i, &Estimate::value)}});
    const auto uncertain = [i](const Configuration& one) {
      return one.metrics[i] && one.metrics[i]->low < one.metrics[i]->high;
    };
    if (std::ranges::none_of(all, uncertain)) continue;
    metric["low"] = part(i, &Estimate::low);
    metric["high"] = part(i, &Estimate::high);
  }
  return json;
}

// The axis whose values are told apart by colour: the hardware, else the first of few values.
std::string default_group(const ResultsTable& table, const std::vector<Axis>& axes) {
  const auto few = [&axes](std::size_t i) { return axes[i].texts.size() > 1 && axes[i].texts.size() <= kMostGroups; };
  for (const std::string_view word : {"preset", "hardware", ""})
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (few(i) && table.axes[i].find(word) != std::string::npos) return table.axes[i];
  return "";
}

// Fills up what was not asked for with what there is: energy over latency, else throughput.
Json defaults_of(const ResultsTable& table, const PageView& view, const std::vector<Axis>& axes, const Json& metrics) {
  std::vector<PageView::Objective> objectives = view.objectives;
  for (const char* name : {"output_tokens_per_joule", "ttft_s.p99", "output_tokens_per_s_per_device", "simulated_s"}) {
    const bool there = std::ranges::any_of(metrics, [name](const Json& metric) { return metric["name"] == name; });
    const bool asked = std::ranges::find(objectives, name, &PageView::Objective::name) != objectives.end();
    if (objectives.size() < 2 && there && !asked)
      objectives.push_back({name, metrics::find_column(name)->metric->better});
  }
  std::ranges::stable_partition(objectives, [](const auto& one) { return one.better == Better::higher; });
  Json limits = Json::array(), better = Json::object();
  for (const PageView::Limit& limit : view.limits)
    limits.push_back({{"name", limit.name}, {"bound", limit.bound}, {"below", limit.below}});
  for (const auto& objective : objectives) better[objective.name] = name_of(objective.better);
  return {{"y", objectives.at(0).name},
          {"x", objectives.at(1).name},
          {"better", better},
          {"group", view.group.empty() ? default_group(table, axes) : view.group},
          {"limits", limits}};
}

// Scenarios of all points, and what their runs looked like: of all, or of an even sample.
void add_points(Json& json, const ResultsTable& table, const std::vector<Configuration>& all,
                Diagnostics& diagnostics) {
  SharedLines lines;
  Json texts = Json::array();
  json["details"] = Json::object();
  const std::size_t every = (all.size() + kMostDetails - 1) / kMostDetails;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto point = read_point(table.folder, table.rows[all[i].rows.front()].id, diagnostics);
    texts.push_back(lines.add(point ? point->scenario : ""));
    if (!point || i % every != 0) continue;
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
    return manifest.contains(place) ? manifest.at(place) : Json();
  };
  Json json = {{"page written by", tool}};
  if (const Json version = at("/tool/version"), revision = at("/tool/revision");
      version.is_string() && revision.is_string())
    json["runs made by"] = fmt::format("llmscape {} ({})", version.get<std::string>(), revision.get<std::string>());
  if (const auto plan = read_file(table.folder / "plan.yaml", error))
    json["plan"] = fmt::format("plan.yaml, {}", content_hash(*plan));
  json["files"] = table.axes.empty() ? "run.json, scenario.resolved.yaml" : "results.csv, points/, manifest.json";
  return json;
}

std::string in_html(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return safe;
}

// JSON within a script element: no '<' that could end it.
std::string in_script(const Json& json) {
  std::string safe;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace))
    safe += c == '<' ? "\\u003c" : std::string(1, c);
  return safe;
}

std::string filled(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> parts) {
  std::string page;
  while (!text.empty()) {
    const auto part = std::ranges::find_if(parts, [&](const auto& one) { return text.starts_with(one.first); });
    if (part == parts.end()) page += text.front();
    else page += part->second;
    text.remove_prefix(part == parts.end() ? 1 : part->first.size());
  }
  return page;
}

}  // namespace

std::string page(const ResultsTable& table, const PageView& view, const std::string& tool, Diagnostics& diagnostics) {
  const std::vector<Configuration> all = explore::configurations(table);
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < table.axes.size(); ++i) axes.emplace_back(all, i);
  const std::string name = std::filesystem::absolute(table.folder / ".").parent_path().filename().string();
  Json json = {{"schema", "report/1"}, {"name", name}};
  json["axes"] = axes_of(table, axes);
  json["metrics"] = metrics_of(all);
  for (const char* list : {"points", "ids", "runs", "verdicts"}) json[list] = Json::array();
  for (const Configuration& one : all) {
    const explore::ResultRow& first = table.rows[one.rows.front()];
    json["points"].push_back(first.point);
    json["ids"].push_back(first.id);
    json["runs"].push_back(one.rows.size());
    json["verdicts"].push_back(one.verdict);
  }
  json["defaults"] = defaults_of(table, view, axes, json["metrics"]);
  json["origin"] = origin_of(table, tool);
  add_points(json, table, all, diagnostics);
  return filled(kPageTemplate, {{"@TITLE@", in_html(name)}, {"@DATA@", in_script(json)}});
}

}  // namespace llmscape::report
