// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include "base/statistics.hpp"
#include "sim/explore/results.hpp"
#include "sim/metrics/verdict.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::explore {
namespace {

// Whether `whole` is `end`, or ends with it behind a dot outside brackets.
bool ends_with_name(std::string_view whole, std::string_view end) {
  if (whole == end) return true;
  if (end.empty() || whole.size() <= end.size() || !whole.ends_with(end)) return false;
  const std::string_view before = whole.substr(0, whole.size() - end.size());
  return before.ends_with('.') && std::ranges::count(before, '[') == std::ranges::count(before, ']');
}

std::size_t count_ending_with(const std::vector<std::string>& names, std::string_view end) {
  return static_cast<std::size_t>(
      std::ranges::count_if(names, [end](const std::string& name) { return ends_with_name(name, end); }));
}

// Whether `end` means one of the names and no metric: expressions read the name of a metric as the metric.
bool means_one(const std::vector<std::string>& names, std::string_view end) {
  return count_ending_with(names, end) == 1 && !metrics::find_column(end);
}

std::size_t column_of(std::string_view metric) {
  return static_cast<std::size_t>(metrics::find_column(metric) - metrics::columns().data());
}

using Rows = std::vector<const ResultRow*>;

std::optional<double> mean_end(const Rows& rows, std::size_t metric, double Estimate::* end) {
  double sum = 0;
  for (const ResultRow* row : rows) {
    if (!row->metrics[metric]) return std::nullopt;
    sum += (*row->metrics[metric]).*end;
  }
  return sum / static_cast<double>(rows.size());
}

// The mean of the values with the interval that their scatter leaves.
std::optional<Estimate> scatter_over(const Rows& rows, std::size_t metric) {
  std::vector<double> values;
  for (const ResultRow* row : rows) {
    if (!row->metrics[metric]) return std::nullopt;
    values.push_back(row->metrics[metric]->value);
  }
  return mean_of(values);
}

// With the runs' own intervals too: the errors of the kernel models, on which the seeds have no influence.
std::optional<Estimate> spread_over(const Rows& rows, std::size_t metric) {
  if (rows.size() == 1) return rows.front()->metrics[metric];
  auto spread = scatter_over(rows, metric);
  if (!spread) return spread;
  const double half = spread->high - spread->value;
  spread->low = *mean_end(rows, metric, &Estimate::low) - half;
  spread->high = *mean_end(rows, metric, &Estimate::high) + half;
  return spread;
}

Rows rows_of(const ResultsTable& table, const Configuration& configuration) {
  Rows rows;
  for (const std::size_t row : configuration.rows) rows.push_back(&table.rows[row]);
  return rows;
}

// Where repeats are not valid one by one, what they say together counts: whether the load of most of them rose, the
// calls of all, and the interval of the mean. Were one that drifts enough, more seeds would make any load unsteady.
std::string verdict_of(const Rows& rows) {
  const ResultRow* drifting = nullptr;  // the first
  std::size_t valid = 0, drift = 0;
  double calls = 0;
  for (const ResultRow* row : rows) {
    if (row->verdict == "valid") ++valid;
    else if (drifts(row->verdict)) drifting = ++drift == 1 ? row : drifting;
    else if (row->verdict != "noisy") return row->verdict;
    if (const auto& completed = row->metrics[column_of("completed")]) calls += completed->value;
  }
  if (drifting && is_half(drift, rows.size())) return drifting->verdict;
  if (valid == rows.size()) return "valid";
  const auto p99 = scatter_over(rows, column_of("ttft.p99"));
  const bool told = rows.size() > 1 && calls >= static_cast<double>(metrics::kFewestCompletions) && p99 &&
                    p99->high - p99->value <= metrics::kWidestInterval * p99->value;
  return told ? "valid" : "noisy";
}

void summarise(const ResultsTable& table, const std::vector<std::string>& names, Configuration& configuration) {
  const Rows rows = rows_of(table, configuration);
  configuration.verdict = verdict_of(rows);
  configuration.label = names.empty() ? rows.front()->id : label_of(names, configuration.values);
  configuration.energy_boundary = rows.front()->energy_boundary;
  for (const ResultRow* row : rows)
    if (configuration.currency.empty()) configuration.currency = row->currency;
  for (std::size_t metric = 0; metric < rows.front()->metrics.size(); ++metric)
    configuration.metrics.push_back(spread_over(rows, metric));
}

}  // namespace

Estimate mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  const double half = confidence_half_width(values).value_or(0);
  return {mean, mean - half, mean + half};
}

bool drifts(std::string_view verdict) { return verdict == "unsteady" || verdict == "saturated"; }

bool is_half(std::size_t some, std::size_t all) { return 2 * some >= all; }

std::optional<Estimate> over_repeats(const ResultsTable& table, const Configuration& configuration,
                                     std::size_t metric) {
  return scatter_over(rows_of(table, configuration), metric);
}

std::vector<Configuration> configurations(const ResultsTable& table) {
  std::vector<Configuration> all;
  std::map<std::vector<std::string>, std::size_t> by_values;
  std::set<std::pair<std::size_t, std::int64_t>> known_runs;  // configuration and seed
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto [known, is_new] = by_values.emplace(table.rows[row].values, all.size());
    if (is_new) all.emplace_back().values = table.rows[row].values;
    // The same run under another number, as older samples have it, is no repeat.
    if (known_runs.emplace(known->second, table.rows[row].seed).second) all[known->second].rows.push_back(row);
  }
  const std::vector<std::string> names = short_names(table.axes);
  for (Configuration& configuration : all) summarise(table, names, configuration);
  return all;
}

std::vector<std::string> short_names(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) {
    std::string shortest = name;
    int depth = 0;  // of brackets
    for (std::size_t at = name.size(); at-- > 0;) {
      depth += (name[at] == ']') - (name[at] == '[');
      if (name[at] != '.' || depth != 0 || !means_one(names, std::string_view(name).substr(at + 1))) continue;
      shortest = name.substr(at + 1);
      break;
    }
    all.push_back(std::move(shortest));
  }
  return all;
}

std::optional<std::size_t> find_axis(const std::vector<std::string>& axes, std::string_view name) {
  const auto exact = std::ranges::find(axes, name);
  if (exact != axes.end()) return static_cast<std::size_t>(exact - axes.begin());
  if (!means_one(axes, name)) return std::nullopt;
  const auto found = std::ranges::find_if(axes, [name](const auto& axis) { return ends_with_name(axis, name); });
  return static_cast<std::size_t>(found - axes.begin());
}

std::string label_of(const std::vector<std::string>& names, const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += fmt::format("{}{}={}", i == 0 ? "" : " ", names[i], values[i]);
  return text;
}

Expression::Lookup lookup_in(const ResultsTable& table, const Configuration& configuration) {
  return [&table, &configuration](std::string_view name) -> std::optional<Value> {
    if (const metrics::Column* column = metrics::find_column(name)) {
      const auto& metric = configuration.metrics[static_cast<std::size_t>(column - metrics::columns().data())];
      return metric ? std::optional<Value>(metric->value) : std::nullopt;
    }
    if (name == "verdict") return configuration.verdict;
    if (name == "energy_boundary") return configuration.energy_boundary;
    if (name == "currency") return configuration.currency;
    const auto axis = find_axis(table.axes, name);
    return axis ? std::optional(value_of(configuration.values[*axis])) : std::nullopt;
  };
}

namespace {

// Of a configuration, beside its metrics and axes.
constexpr std::string_view kColumns[] = {"verdict", "energy_boundary", "currency"};

// A word that an axis of these results never is: a condition may name what another sweep has.
void check_word(const Expression::Name& word, const Expression::Name& of, const ResultsTable& table,
                Diagnostics& diagnostics) {
  const auto axis = find_axis(table.axes, of.name);
  if (!axis || table.rows.empty()) return;
  std::vector<std::string> values;
  for (const ResultRow& row : table.rows) values.push_back(row.values[*axis]);
  if (std::ranges::find(values, word.name) == values.end())
    diagnostics.warning(word.where, fmt::format("'{}' never is {} in these results", of.name, in_quotes(word.name)),
                        did_you_mean(word.name, values));
}

}  // namespace

void check_names(const Expression& expression, const ResultsTable& table, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < expression.names().size(); ++i) {
    const Expression::Name& name = expression.names()[i];
    if (std::ranges::find(kColumns, name.name) != std::end(kColumns)) continue;
    if (metrics::find_column(name.name)) continue;
    if (find_axis(table.axes, name.name)) continue;
    if (name.may_be_text) {
      check_word(name, expression.names()[i - 1], table, diagnostics);  // it stands behind a name
      continue;
    }
    std::vector<std::string> known = short_names(table.axes);
    known.insert(known.end(), table.axes.begin(), table.axes.end());
    known.insert(known.end(), std::begin(kColumns), std::end(kColumns));
    for (const metrics::Column& column : metrics::columns()) known.push_back(metrics::short_name(column));
    diagnostics.error(name.where,
                      fmt::format("{} is neither a metric nor an axis of these results", in_quotes(name.name)),
                      did_you_mean(name.name, known));
  }
}

void check_known(const Expression& expression, const ResultsTable& table, Diagnostics& diagnostics) {
  for (const Expression::Name& name : expression.names()) {
    const metrics::Column* column = metrics::find_column(name.name);
    if (!column) continue;
    const auto place = static_cast<std::size_t>(column - metrics::columns().data());
    if (std::ranges::none_of(table.rows, [&](const ResultRow& row) { return row.metrics[place].has_value(); }))
      diagnostics.error(name.where, fmt::format("no result has {}", in_quotes(name.name)), needed_for(*column->metric));
  }
}

std::string needed_for(const metrics::Metric& metric) {
  if (metric.section == "cost") return "give the scenario prices: cost.devices";
  if (metric.key == "goodput_rps" || metric.key == "slo_attainment") return "give the scenario limits: slo";
  return "";
}

std::optional<NameUnit> unit_of(const metrics::Metric& metric) {
  static const std::map<std::string_view, NameUnit> kUnits = {{"s", {Dimension::time}},
                                                              {"B", {Dimension::data}},
                                                              {"J", {Dimension::energy}},
                                                              {"W", {Dimension::power}},
                                                              {"mm2", {Dimension::area}},
                                                              {"1/s", {Dimension::rate, true}},
                                                              {"1/J", {Dimension::per_energy, true}},
                                                              {"share", {Dimension::number, false, true}},
                                                              {"1/pass", {}},
                                                              {"currency", {}},
                                                              {"", {}}};
  const auto known = kUnits.find(metric.unit);
  return known == kUnits.end() ? std::nullopt : std::optional(known->second);
}

std::optional<NameUnit> unit_of_metric(std::string_view name) {
  const metrics::Column* column = metrics::find_column(name);
  return column ? unit_of(*column->metric) : std::nullopt;
}

std::optional<NameUnit> unit_of_values(const std::vector<std::string>& values) {
  std::optional<Dimension> all;
  for (const std::string& value : values) {
    const auto one = dimension_of_value(value);
    if (!one || (all && all != one)) return std::nullopt;
    all = one;
  }
  return all ? std::optional(NameUnit{*all}) : std::nullopt;
}

bool is_text(std::string_view name, const ResultsTable& table) {
  if (metrics::find_column(name) || table.rows.empty()) return false;
  if (std::ranges::find(kColumns, name) != std::end(kColumns)) return true;
  const auto axis = find_axis(table.axes, name);
  return axis && std::ranges::all_of(table.rows, [&](const ResultRow& row) {
           return std::holds_alternative<std::string>(value_of(row.values[*axis]));
         });
}

void check_units(const Expression& expression, const ResultsTable& table, Diagnostics& diagnostics) {
  const auto unit_of = [&](std::string_view name) -> std::optional<NameUnit> {
    if (metrics::find_column(name)) return unit_of_metric(name);
    if (is_text(name, table)) return NameUnit{.is_text = true};
    const auto axis = find_axis(table.axes, name);
    if (!axis) return std::nullopt;
    std::set<std::string> values;
    for (const ResultRow& row : table.rows) values.insert(row.values[*axis]);
    return unit_of_values({values.begin(), values.end()});
  };
  expression.check_units(unit_of, diagnostics);
}

}  // namespace llmscape::explore
