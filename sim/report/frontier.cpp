// SPDX-License-Identifier: Apache-2.0
#include "sim/report/frontier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/table.hpp"
#include "sim/report/scatter.hpp"
#include "sim/report/units.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::report {
namespace {

using explore::Frontier;
using explore::Objective;
using explore::ParetoPoint;

std::string axis_label(const Objective& objective) {
  const bool derived = objective.expression.text() != objective.name;
  return derived && objective.expression.names().size() <= 3
             ? fmt::format("{} = {}", objective.name, objective.expression.text())
             : objective.name;
}

bool unit_tells(const Objective& objective) { return objective.unit.find("token") != std::string::npos; }

// What heads its column: the unit where it says enough, as that is shorter.
std::string heading(const Objective& objective) {
  return (objective.maximize ? "max " : "min ") + (unit_tells(objective) ? objective.unit : objective.name);
}

// What stands below: with the unit where the heading does not say it, or says several currencies.
std::string cell(const FrontierView& view, const ParetoPoint& point, std::size_t k) {
  const Objective& objective = view.query.objectives[k];
  const std::string unit = unit_in(objective, view.table, view.answer.configurations[point.configuration].currency);
  const bool said = unit_tells(objective) && unit == objective.unit;
  return said ? in_unit(point.values[k].value, unit) : with_unit(point.values[k].value, unit);
}

std::string picture(const FrontierView& view, bool colour) {
  const auto& objectives = view.query.objectives;
  Scatter plot{
      {axis_label(objectives[1]), objectives[1].unit}, {axis_label(objectives[0]), objectives[0].unit}, {}, {}};
  for (const Frontier& group : view.answer.groups) plot.groups.push_back(group.name);
  for (const ParetoPoint& point : view.answer.points)
    plot.points.push_back({point.values[1].value, point.values[0].value, point.group, point.on_frontier});
  return scatter(plot, colour, view.width);
}

std::string note_of(const ParetoPoint& point, bool is_knee) {
  std::string note = point.on_frontier ? "" : point.tied ? "tied" : "";
  if (is_knee) note = "knee";
  if (!point.alike.empty()) note += fmt::format("{}~{}", note.empty() ? "" : " ", point.alike.size());
  return note;
}

// The points of a frontier, and behind them those that are near to it; of one objective the ten best.
std::vector<std::size_t> listed(const FrontierView& view, std::size_t group) {
  if (view.query.objectives.size() == 1) {
    constexpr std::size_t kMost = 10;
    std::vector<std::size_t> best;
    for (std::size_t i = 0; i < view.answer.points.size(); ++i)
      if (view.answer.points[i].group == group) best.push_back(i);
    std::ranges::stable_sort(
        best, {}, [&](std::size_t i) { return view.query.objectives[0].loss(view.answer.points[i].values[0].value); });
    best.resize(std::min(kMost, best.size()));
    return best;
  }
  std::vector<std::size_t> points = view.answer.groups[group].points;
  for (std::size_t i = 0; i < view.answer.points.size(); ++i) {
    const ParetoPoint& point = view.answer.points[i];
    if (point.group == group && !point.on_frontier && (point.tied || !point.alike.empty())) points.push_back(i);
  }
  return points;
}

// Beside a single objective: the metrics that the SLO limits, as what is best is often near to a limit.
std::vector<const metrics::Column*> limited_metrics(const explore::ParetoQuery& query) {
  std::vector<const metrics::Column*> limited;
  if (!query.slo || query.objectives.size() > 1) return limited;
  for (const Expression::Name& name : query.slo->names()) {
    const metrics::Column* column = metrics::find_column(name.name);
    const bool shown = std::ranges::find(limited, column) != limited.end() ||
                       std::ranges::any_of(query.objectives, [&](const Objective& objective) {
                         return metrics::find_column(objective.expression.text()) == column;
                       });
    if (column && !shown) limited.push_back(column);
  }
  return limited;
}

// What sets the configurations of the table apart: without the axis that the column of groups has, and those in which
// all agree. Labels that were asked for stay as they are.
FrontierView short_labels(FrontierView view) {
  if (!view.label_axes.empty()) return view;
  const auto group = view.query.group ? explore::find_axis(view.table.axes, view.query.group->text()) : std::nullopt;
  for (std::size_t axis = 0; axis < view.table.axes.size(); ++axis) {
    const auto value = [&](const ParetoPoint& point) {
      return view.answer.configurations[point.configuration].values[axis];
    };
    const auto differs = [&](const ParetoPoint& point) { return value(point) != value(view.answer.points.front()); };
    if (axis != group && std::ranges::any_of(view.answer.points, differs)) view.label_axes.push_back(axis);
  }
  return view;
}

std::string points_table(const FrontierView& asked) {
  const FrontierView view = short_labels(asked);
  const bool grouped = view.answer.groups.size() > 1, invalid = view.query.include_invalid;
  const bool one_axis = view.label_axes.size() == 1;  // then labels are its values
  std::vector<std::string> header = {
      "point", one_axis ? explore::short_names(view.table.axes)[view.label_axes.front()] : "configuration"};
  if (grouped) header.insert(header.begin(), "group");
  for (const Objective& objective : view.query.objectives) header.push_back(heading(objective));
  const auto limited = limited_metrics(view.query);
  for (const metrics::Column* column : limited) header.push_back(metrics::short_name(*column));
  if (invalid) header.emplace_back("verdict");
  header.emplace_back("");
  Table table(header);
  const std::size_t most = grouped ? 12 : 30;  // rows of a group
  std::string left;
  for (std::size_t group = 0; group < view.answer.groups.size(); ++group) {
    const Frontier& frontier = view.answer.groups[group];
    const auto points = listed(view, group);
    for (std::size_t i = 0; i < std::min(most, points.size()); ++i) {
      const ParetoPoint& point = view.answer.points[points[i]];
      const auto& configuration = view.answer.configurations[point.configuration];
      std::vector<std::string> cells;
      if (grouped) cells.push_back((point.best_of_all ? "* " : "  ") + frontier.name);
      cells.push_back(fmt::format("#{}", view.table.rows[configuration.rows.front()].point));
      cells.push_back(label_of(view, point.configuration));
      for (std::size_t k = 0; k < point.values.size(); ++k) cells.push_back(cell(view, point, k));
      for (const metrics::Column* column : limited) {
        const auto& value = configuration.metrics[static_cast<std::size_t>(column - metrics::columns().data())];
        const std::string_view unit = column->metric->unit;
        cells.push_back(value ? with_unit(value->value, unit == "currency" ? configuration.currency : unit) : "-");
      }
      if (invalid) cells.push_back(configuration.verdict);
      cells.push_back(note_of(point, frontier.knee == points[i]));
      table.row(std::move(cells));
    }
    if (points.size() > most)
      left += fmt::format("{}{} more{}", left.empty() ? "... " : ", ", points.size() - most,
                          grouped ? " of " + frontier.name : "");
  }
  return table.text(static_cast<int>(view.width)) +
         (left.empty() ? "" : wrapped(left, view.width) + ": --format csv has all\n");
}

std::string legend(const FrontierView& view) {
  std::string text;
  const auto& points = view.answer.points;
  if (view.query.groups_alone)
    text += wrapped(
                "No group is held against another: what objectives are summed up over differs in length from group "
                "to group.",
                view.width) +
            '\n';
  else if (view.answer.groups.size() > 1) text += "*   on the frontier of all groups together\n";
  if (std::ranges::any_of(points, &ParetoPoint::tied))
    text +=
        fmt::format("tied: within {:.3g} % of a point of the frontier in every objective\n", 100 * view.query.epsilon);
  if (std::ranges::any_of(points, [](const ParetoPoint& point) { return !point.alike.empty(); }))
    text += "~n: not told apart from n points of the frontier: their intervals overlap in every objective\n";
  return text;
}

std::string hypervolumes(const FrontierView& view) {
  Table table({"group", "qualify", "on the frontier", "hypervolume"});
  for (const Frontier& group : view.answer.groups)
    table.row({group.name.empty() ? "all" : group.name, std::to_string(group.qualified),
               std::to_string(group.points.size()), percent(group.share)});
  if (view.query.groups_alone)
    return table.text(static_cast<int>(view.width)) +
           wrapped("Hypervolume: of the box from the worst to the best values of the group itself.", view.width) + '\n';
  std::string reference, best;
  for (std::size_t k = 0; k < view.query.objectives.size(); ++k) {
    const std::string& unit = view.query.objectives[k].unit;
    const std::string gap = k == 0 ? "" : ", ";
    reference += gap + with_unit(view.answer.reference[k], unit);
    best += gap + with_unit(view.answer.best[k], unit);
  }
  return table.text(static_cast<int>(view.width)) +
         wrapped(fmt::format("Hypervolume: of the box from ({}) to the best values of all, ({}).", reference, best),
                 view.width) +
         '\n';
}

std::string left_out(const FrontierView& view) {
  const auto& out = view.answer.left_out;
  std::vector<std::string> parts;
  const auto add = [&parts](std::size_t count, const std::string& why) {
    if (count > 0) parts.push_back(fmt::format("{} {}", grouped(static_cast<std::int64_t>(count)), why));
  };
  if (view.query.where) add(out.where, fmt::format("outside {}", view.query.where->text()));
  add(out.invalid, "not valid (--include-invalid)");
  for (std::size_t k = 0; k < out.lacking.size(); ++k) add(out.lacking[k], "without " + view.query.objectives[k].name);
  if (view.query.slo) add(out.slo, fmt::format("that miss {}", view.query.slo->text()));
  const std::string notice = failed_notice(view.table.failed);
  std::string failed = notice.empty() ? "" : wrapped(notice, view.width) + '\n';
  if (parts.empty()) return failed;
  return failed +
         wrapped(
             fmt::format("Left out of {} configurations: {}.",
                         grouped(static_cast<std::int64_t>(view.answer.configurations.size())), fmt::join(parts, ", ")),
             view.width) +
         '\n';
}

}  // namespace

std::string label_of(const FrontierView& view, std::size_t configuration) {
  const auto& chosen = view.answer.configurations[configuration];
  if (view.label_axes.empty()) return chosen.label;
  if (view.label_axes.size() == 1) return chosen.values[view.label_axes.front()];
  const auto names = explore::short_names(view.table.axes);
  std::string label;
  for (const std::size_t axis : view.label_axes)
    label += fmt::format("{}{}={}", label.empty() ? "" : " ", names[axis], chosen.values[axis]);
  return label;
}

std::string unit_in(const Objective& objective, const explore::ResultsTable& all, const std::string& currency) {
  const std::string every = currency_of(all);
  if (currency.empty() || !counts_money(objective) || !objective.unit.starts_with(every)) return objective.unit;
  return currency + objective.unit.substr(every.size());
}

std::string failed_notice(std::size_t failed) {
  if (failed == 0) return "";
  return fmt::format("{} of the sweep failed and {} not looked at: see failed/, and 'limits' of the plan.",
                     failed == 1 ? "A point" : grouped(static_cast<std::int64_t>(failed)) + " points",
                     failed == 1 ? "is" : "are");
}

std::string frontier_text(const FrontierView& view, bool colour) {
  if (view.answer.points.empty()) return "No configuration qualifies.\n" + left_out(view);
  std::string sentences, line;
  for (std::istringstream lines(winner(view)); std::getline(lines, line);)
    sentences += wrapped(line, view.width) + ".\n";
  if (const std::string notice = mixture_notice(view); !notice.empty()) sentences += wrapped(notice, view.width) + '\n';
  if (view.query.objectives.size() == 1) return sentences + '\n' + points_table(view) + legend(view) + left_out(view);
  return sentences + '\n' + picture(view, colour) + '\n' + points_table(view) + legend(view) + '\n' +
         hypervolumes(view) + left_out(view);
}

std::string dominators_text(const FrontierView& view, std::size_t configuration) {
  const std::string label = label_of(view, configuration);
  const auto found = explore::dominators(view.answer, view.query, view.table, configuration);
  if (!found) return label + " has no value of one of the objectives.\n";
  if (found->empty()) return "Nothing dominates " + label + ".\n";
  std::vector<std::string> header = {"point", "configuration"};
  for (const Objective& objective : view.query.objectives) {
    header.push_back(heading(objective));
    header.emplace_back("ratio");
  }
  Table table(header);
  for (const explore::Dominator& dominator : *found) {
    const ParetoPoint& point = view.answer.points[dominator.point];
    const auto& row = view.table.rows[view.answer.configurations[point.configuration].rows.front()];
    std::vector<std::string> cells = {fmt::format("#{}", row.point), label_of(view, point.configuration)};
    for (std::size_t k = 0; k < point.values.size(); ++k) {
      cells.push_back(cell(view, point, k));
      cells.push_back(dominator.ratios[k] ? fmt::format("{:.3f}x", *dominator.ratios[k]) : "-");
    }
    table.row(std::move(cells));
  }
  return fmt::format("{} dominate{} {}:\n", found->size(), found->size() == 1 ? "s" : "", label) +
         table.text(static_cast<int>(view.width));
}

}  // namespace llmscape::report
