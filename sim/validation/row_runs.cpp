// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/row_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "base/process_pool.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/run/intervals.hpp"
#include "sim/run/run.hpp"

namespace llmscape::validation {
namespace {

struct RowAnswer {
  std::vector<std::optional<double>> predicted;
  std::vector<std::optional<metrics::End>> ends;  // the same, of a draw
  std::string refused;
  template <class Message>
  void cross(Message& m) {
    m(predicted, ends, refused);
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

// What a row describes, simulated in a child; it is read once.
class RowScenario {
 public:
  RowScenario(const MeasuredTable& table, const MeasuredRow& row, const std::vector<std::string>& overrides,
              const scenario::Catalogs& catalogs)
      : table_(table), row_(row) {
    YamlNode root = read_yaml(std::make_shared<const SourceText>(SourceText{row.name, row.scenario}), diagnostics_);
    std::vector<std::string> all = row.overrides;
    all.insert(all.end(), overrides.begin(), overrides.end());
    scenario_ = scenario::read_scenario(std::move(root), table.folder, all, std::nullopt, catalogs, diagnostics_);
  }

  // `draw`: with kernel times of that run of the intervals.
  RowAnswer simulate(std::optional<std::size_t> draw = std::nullopt) {
    if (!scenario_) return {{}, {}, first_error(diagnostics_)};
    world::Options options = run::one_of_many();
    if (draw) options.time_ranks = run::interval_ranks(*scenario_, *draw);
    Diagnostics diagnostics = diagnostics_;
    const result::RunResult result = run::run_scenario(*scenario_, options, diagnostics);
    if (diagnostics.has_errors()) return {{}, {}, first_error(diagnostics)};
    if (result.requests.completed < result.requests.injected)
      return {{},
              {},
              fmt::format("{} of {} requests were answered: the others are longer than the KV pool",
                          result.requests.completed, result.requests.injected)};
    std::vector<std::optional<double>> predicted = metrics_of(result);
    std::vector<std::optional<metrics::End>> ends;
    for (std::size_t i = 0; draw && i < predicted.size(); ++i) {
      const auto columns = metrics::find_columns(table_.metrics[i].name);
      const metrics::ServerSpread* spread = columns.empty() ? nullptr : columns.front()->metric->server;
      ends.push_back(predicted[i] ? std::optional(run::end_of(*predicted[i], spread, result)) : std::nullopt);
    }
    return {std::move(predicted), std::move(ends), ""};
  }

 private:
  [[nodiscard]] std::vector<std::optional<double>> metrics_of(const result::RunResult& result) const {
    std::vector<std::optional<double>> predicted;
    std::map<std::string, double, std::less<>> above;
    const auto lookup = [&](std::string_view name) -> std::optional<Value> {
      if (const auto found = above.find(name); found != above.end()) return Value(found->second);
      if (const auto of_row = row_.value(name); of_row && !metric_of(result, name)) return of_row;
      const auto number = metric_of(result, name);
      return number ? std::optional<Value>(*number) : std::nullopt;
    };
    for (const TableMetric& metric : table_.metrics) {
      const auto value = metric.predicted.evaluate(lookup);
      const double* number = value ? std::get_if<double>(&*value) : nullptr;
      if (number) above[metric.name] = *number;
      predicted.push_back(number ? std::optional(*number) : std::nullopt);
    }
    return predicted;
  }

  const MeasuredTable& table_;
  const MeasuredRow& row_;
  Diagnostics diagnostics_;
  std::optional<scenario::Scenario> scenario_;
};

// Reads the devices of these rows: children are copies of this process, and none reads them again where catalogues
// remember. Mistakes are for the children to report.
void read_devices(const MeasuredTable& table, const std::vector<const MeasuredRow*>& rows,
                  const std::vector<std::string>& overrides, const scenario::Catalogs& catalogs) {
  std::set<std::string> devices;
  for (const MeasuredRow* row : rows)
    if (const auto device = row->value("hardware"); devices.insert(device ? text_of(*device) : "").second)
      RowScenario(table, *row, overrides, catalogs);
}

std::vector<std::size_t> numbers_below(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

ProcessLimits limits_of(int jobs) {
  constexpr std::size_t kRowsOfChild = 256;
  return {jobs, {}, {}, kRowsOfChild};
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
  read_devices(table, rows, overrides, catalogs);
  std::vector<RowPoint> points(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) points[i].row = rows[i];
  ProcessPool<std::size_t, RowAnswer> pool(
      [&](const std::size_t& i) { return RowScenario(table, *rows[i], overrides, catalogs).simulate(); },
      limits_of(jobs));
  pool.run(numbers_below(rows.size()), [&](const std::size_t& i, TaskOutcome<RowAnswer> outcome) {
    points[i].refused = outcome.answer ? outcome.answer->refused : outcome.error;
    if (outcome.answer) points[i].predicted = std::move(outcome.answer->predicted);
    return true;
  });
  return points;
}

std::vector<RowIntervals> row_intervals(const MeasuredTable& table, const std::vector<const MeasuredRow*>& rows,
                                        const std::vector<std::string>& overrides, const scenario::Catalogs& catalogs,
                                        int jobs) {
  read_devices(table, rows, overrides, catalogs);
  std::vector<RowIntervals> intervals(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    intervals[row] = {rows[row], std::vector<RowIntervals::Ends>(table.metrics.size())};
  ProcessPool<std::size_t, std::vector<RowAnswer>> pool(
      [&](const std::size_t& row) {
        RowScenario scenario(table, *rows[row], overrides, catalogs);
        std::vector<RowAnswer> draws;
        for (std::size_t run = 0; run < result::kIntervalRuns; ++run) draws.push_back(scenario.simulate(run));
        return draws;
      },
      limits_of(jobs));
  pool.run(numbers_below(rows.size()), [&](const std::size_t& row, TaskOutcome<std::vector<RowAnswer>> outcome) {
    if (!outcome.answer) return true;
    std::vector<std::vector<metrics::End>> values(table.metrics.size());
    for (const RowAnswer& draw : *outcome.answer)
      for (std::size_t i = 0; i < draw.ends.size(); ++i)
        if (draw.ends[i]) values[i].push_back(*draw.ends[i]);
    for (std::size_t i = 0; i < values.size(); ++i) intervals[row].metrics[i] = run::interval_of(values[i]);
    return true;
  });
  return intervals;
}

std::optional<double> share_inside(const std::vector<RowIntervals>& intervals, std::size_t metric) {
  double inside = 0, all = 0;
  for (const RowIntervals& of : intervals) {
    const auto& interval = of.metrics[metric];
    const auto& measured = of.row->measured[metric];
    if (!interval || !measured) continue;
    ++all;
    if (interval->first.value <= *measured && *measured <= interval->second.value) ++inside;
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
