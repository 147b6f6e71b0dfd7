// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/row_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/catalog.hpp"
#include "base/process_pool.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/run/intervals.hpp"
#include "sim/run/run.hpp"

namespace llmscape::validation {
namespace {

struct RowAnswer {
  std::vector<std::optional<double>> predicted;
  std::string refused;
  template <class Message>
  void cross(Message& m) {
    m(predicted, refused);
  }
};

std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.sorted())
    if (d.severity == Severity::error)
      return d.suggestion.empty() ? d.message : fmt::format("{}; {}", d.message, d.suggestion);
  return "it cannot be simulated";
}

std::optional<double> metric_of(const result::RunResult& result, std::string_view name) {
  const auto columns = metrics::find_columns(name);
  return columns.empty() ? std::nullopt : columns.front()->value(result);
}

// `draw`: with kernel times of that run of the intervals.
RowAnswer simulate(const MeasuredTable& table, const MeasuredRow& row, const std::vector<std::string>& overrides,
                   const scenario::Catalogs& catalogs, std::optional<std::size_t> draw = std::nullopt) {
  Diagnostics diagnostics;
  YamlNode root = read_yaml(std::make_shared<const SourceText>(SourceText{row.name, row.scenario}), diagnostics);
  std::vector<std::string> all = row.overrides;
  all.insert(all.end(), overrides.begin(), overrides.end());
  const auto scenario =
      scenario::read_scenario(std::move(root), table.folder, all, std::nullopt, catalogs, diagnostics);
  if (!scenario) return {{}, first_error(diagnostics)};
  world::Options options;
  options.kernel = world::KernelKind::event_queue;
  if (draw) options.time_factors = run::interval_factors(*scenario, *draw);
  const result::RunResult result = run::run_scenario(*scenario, options, diagnostics);
  if (diagnostics.has_errors()) return {{}, first_error(diagnostics)};
  if (result.requests.completed < result.requests.injected)
    return {{},
            fmt::format("{} of {} requests were answered: the others are longer than the KV pool",
                        result.requests.completed, result.requests.injected)};
  RowAnswer answer;
  std::map<std::string, double, std::less<>> above;
  const auto lookup = [&](std::string_view name) -> std::optional<Value> {
    if (const auto found = above.find(name); found != above.end()) return Value(found->second);
    if (const auto of_row = row.value(name); of_row && !metric_of(result, name)) return of_row;
    const auto number = metric_of(result, name);
    return number ? std::optional<Value>(*number) : std::nullopt;
  };
  for (const TableMetric& metric : table.metrics) {
    const auto value = metric.predicted.evaluate(lookup);
    const double* number = value ? std::get_if<double>(&*value) : nullptr;
    if (number) above[metric.name] = *number;
    answer.predicted.push_back(number ? std::optional(*number) : std::nullopt);
  }
  return answer;
}

// Children are copies of this process: what it has parsed, none of them parses again. Mistakes are theirs to report.
void parse_entries(const std::vector<const MeasuredRow*>& rows, const scenario::Catalogs& catalogs) {
  std::set<std::string> names;
  for (const MeasuredRow* row : rows)
    if (const auto name = row->value("hardware")) names.insert(text_of(*name));
  Diagnostics ignored;
  for (const std::string& name : names) catalog_entry(catalogs.hardware, "device", name, {}, ignored);
}

}  // namespace

std::vector<const MeasuredRow*> rows_to_predict(const MeasuredTable& table) {
  std::vector<const MeasuredRow*> rows;
  for (const MeasuredRow& row : table.rows)
    if (!row.left_out) rows.push_back(&row);
  return rows;
}

std::vector<RowPoint> simulate_rows(const MeasuredTable& table, const std::vector<const MeasuredRow*>& rows,
                                    const std::vector<std::string>& overrides, const scenario::Catalogs& catalogs,
                                    int jobs) {
  parse_entries(rows, catalogs);
  std::vector<RowPoint> points(rows.size());
  std::vector<std::size_t> numbers(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    points[i].row = rows[i];
    numbers[i] = i;
  }
  ProcessLimits limits;
  limits.jobs = jobs;
  const ProcessPool<std::size_t, RowAnswer> pool(
      [&](const std::size_t& i) { return simulate(table, *rows[i], overrides, catalogs); }, limits);
  pool.run(numbers, [&](const std::size_t& i, TaskOutcome<RowAnswer> outcome) {
    points[i].refused = outcome.answer ? outcome.answer->refused : outcome.error;
    if (outcome.answer) points[i].predicted = std::move(outcome.answer->predicted);
    return true;
  });
  return points;
}

std::vector<RowIntervals> row_intervals(const MeasuredTable& table, const std::vector<const MeasuredRow*>& rows,
                                        const std::vector<std::string>& overrides, const scenario::Catalogs& catalogs,
                                        int jobs) {
  parse_entries(rows, catalogs);
  using Draw = std::pair<std::size_t, std::size_t>;  // a row, and a run of its intervals
  std::vector<Draw> draws;
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t run = 0; run < result::kIntervalRuns; ++run) draws.emplace_back(row, run);
  std::vector<std::vector<std::vector<double>>> values(rows.size(),
                                                       std::vector<std::vector<double>>(table.metrics.size()));
  ProcessLimits limits;
  limits.jobs = jobs;
  const ProcessPool<Draw, RowAnswer> pool(
      [&](const Draw& d) { return simulate(table, *rows[d.first], overrides, catalogs, d.second); }, limits);
  pool.run(draws, [&](const Draw& d, TaskOutcome<RowAnswer> outcome) {
    if (!outcome.answer) return true;
    for (std::size_t i = 0; i < outcome.answer->predicted.size(); ++i)
      if (const auto& value = outcome.answer->predicted[i]) values[d.first][i].push_back(*value);
    return true;
  });
  std::vector<RowIntervals> intervals(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    intervals[row].row = rows[row];
    for (const std::vector<double>& of_metric : values[row])
      intervals[row].metrics.push_back(run::interval_of(of_metric));
  }
  return intervals;
}

std::optional<double> share_inside(const std::vector<RowIntervals>& intervals, std::size_t metric) {
  double inside = 0, all = 0;
  for (const RowIntervals& of : intervals) {
    const auto& interval = of.metrics[metric];
    const auto& measured = of.row->measured[metric];
    if (!interval || !measured) continue;
    ++all;
    if (interval->first <= *measured && *measured <= interval->second) ++inside;
  }
  return all > 0 ? std::optional(inside / all) : std::nullopt;
}

std::vector<Comparison> compare_points(const MeasuredTable& table, const std::vector<const RowPoint*>& points) {
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < table.metrics.size(); ++i) {
    std::vector<Pair> pairs;
    for (const RowPoint* point : points)
      if (point->refused.empty() && point->predicted[i] && point->row->measured[i])
        pairs.push_back({point->row->name, *point->predicted[i], *point->row->measured[i]});
    if (pairs.empty()) continue;
    comparisons.push_back(compare(table.metrics[i].name, table.metrics[i].unit, pairs));
    comparisons.back().statistics.clear();
  }
  return comparisons;
}

std::vector<RowGroup> group_points(const std::vector<RowPoint>& points, const std::vector<std::string>& columns) {
  std::map<std::vector<Value>, RowGroup> groups;
  for (const RowPoint& point : points) {
    std::vector<Value> key;
    std::string name;
    for (const std::string& column : columns) {
      key.push_back(point.row->value(column).value_or(std::string("-")));
      name += (name.empty() ? "" : ", ") + text_of(key.back());
    }
    RowGroup& group = groups[key];
    group.name = name;
    group.points.push_back(&point);
  }
  std::vector<RowGroup> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

}  // namespace llmscape::validation
