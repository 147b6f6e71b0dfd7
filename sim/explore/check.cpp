// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/rounding.hpp"
#include "sim/explore/objective.hpp"

namespace llmscape::explore {
namespace {

using Values = std::vector<std::string>;

// Of runs with the same seeds, by which the values of both differ: noise that is common to both is in neither.
using Differences = std::vector<double>;

// Whether a value that moved may have done so by chance.
bool by_chance(const Estimate& before, const Estimate& now, const std::optional<Differences>& differences) {
  if (!differences) return now.low <= before.high && before.low <= now.high;
  const Estimate moved = mean_of(*differences);
  return moved.low <= 0 && moved.high >= 0;
}

MetricStanding standing_of(const Estimate& before, const Estimate& now, const std::optional<Differences>& differences,
                           const Tolerance& tolerance, const metrics::Metric& metric) {
  // 1.1 is 10 % more than 1, and 1.1 - 1 > 0.1.
  if (at_most(std::abs(now.value - before.value), tolerance.around(before.value))) return MetricStanding::same;
  if (by_chance(before, now, differences)) return MetricStanding::ambiguous;
  const bool rose = now.value > before.value;
  const bool better = metric.better == (rose ? metrics::Better::higher : metrics::Better::lower);
  return better ? MetricStanding::better : MetricStanding::worse;
}

MetricCheck check_metric(const metrics::Column& column, std::optional<Estimate> before, std::optional<Estimate> now,
                         const std::optional<Differences>& differences, const Tolerance& tolerance,
                         const std::string& incomparable) {
  MetricCheck check{&column, MetricStanding::worse, before, now, tolerance, ""};
  if (!now) check.reason = "the results lack it";
  else if (!before) check.reason = "the baseline lacks it";
  else check.standing = standing_of(*before, *now, differences, tolerance, *column.metric);
  if (before && now && check.standing != MetricStanding::same && !incomparable.empty()) {
    check.standing = MetricStanding::ambiguous;
    check.reason = incomparable;
  }
  const bool moved = before && now && check.standing == MetricStanding::worse;
  if (moved && column.metric->better == metrics::Better::neither) check.reason = "it must not move";
  return check;
}

// Configurations of the baseline by their values in the order of the axes of the results.
std::map<Values, const Baseline::Configuration*> by_values(const Baseline& baseline, const Values& axes) {
  std::map<Values, const Baseline::Configuration*> found;
  for (const Baseline::Configuration& configuration : baseline.configurations) {
    Values values;
    for (const std::string& axis : axes)
      values.push_back(
          configuration
              .values[static_cast<std::size_t>(std::ranges::find(baseline.axes, axis) - baseline.axes.begin())]);
    found.emplace(std::move(values), &configuration);
  }
  return found;
}

// What is compared of one configuration: what was asked for, or what the baseline is for and holds.
MetricColumns columns_of(const Baseline& baseline, const Baseline::Configuration& configuration,
                         const MetricColumns& only) {
  if (!only.empty()) return only;
  const MetricColumns chosen = baseline.columns();
  MetricColumns all;
  for (const metrics::Column& column : metrics::columns())
    if (configuration.metrics.contains(column.name) || std::ranges::find(chosen, &column) != chosen.end())
      all.push_back(&column);
  return all;
}

// Where both have the same seeds, as many of each.
std::optional<Differences> differences_of(const Configuration& now, const Baseline::Configuration& before,
                                          const metrics::Column& column, const ResultsTable& table) {
  const auto runs = before.by_seed.find(column.name);
  if (runs == before.by_seed.end() || runs->second.size() != now.rows.size() || now.rows.size() < 2 ||
      before.seed != table.rows[now.rows.front()].seed)
    return std::nullopt;
  Differences differences;
  const auto place = static_cast<std::size_t>(&column - metrics::columns().data());
  for (std::size_t i = 0; i < now.rows.size(); ++i) {
    const auto& value = table.rows[now.rows[i]].metrics[place];
    if (!value) return std::nullopt;
    differences.push_back(value->value - runs->second[i]);
  }
  return differences;
}

// Why a change of the metric would be none of the system; empty where it is. A length that the baseline does not say
// may be any.
std::string incomparable_by(const metrics::Metric& metric, const Configuration& now,
                            const Baseline::Configuration& before) {
  const Extent extent = extent_of(now);
  const bool known = is_sum(metric) ? before.over.window_s.has_value() : before.over.peak_window_s.has_value();
  if (instead_of(metric).empty() || (known && comparable(metric, before.over, extent))) return "";
  return fmt::format("{}: look at {}", unlike(metric, before.over, extent), instead_of(metric));
}

ConfigurationCheck compare(const Configuration& now, const Baseline::Configuration* before, const Baseline& baseline,
                           const MetricColumns& only, const ResultsTable& table) {
  ConfigurationCheck check{now.label, "", {}};
  if (!before) check.problem = "the baseline lacks it; --update takes it in";
  else if (now.verdict != "valid") check.problem = fmt::format("the result is {}, not valid", now.verdict);
  else if (static_cast<std::int64_t>(now.rows.size()) < before->runs)
    check.problem = fmt::format("{} runs, where the baseline has {}", now.rows.size(), before->runs);
  if (!check.problem.empty()) return check;
  for (const metrics::Column* column : columns_of(baseline, *before, only)) {
    const auto known = before->metrics.find(column->name);
    const auto value = over_repeats(table, now, static_cast<std::size_t>(column - metrics::columns().data()));
    if (known == before->metrics.end() && !value) continue;
    check.metrics.push_back(check_metric(
        *column, known == before->metrics.end() ? std::nullopt : std::optional(of_runs(known->second, before->runs)),
        value, differences_of(now, *before, *column, table), baseline.tolerance_of(*column),
        incomparable_by(*column->metric, now, *before)));
    if (counts_money(*column)) check.metrics.back().currency = now.currency.empty() ? before->currency : now.currency;
  }
  return check;
}

// Those that somebody named and that nothing was compared of: a gate that could never fail. Of a metric that was named
// with all its statistics one is enough.
std::vector<std::string> never_compared(const Check& check, const Baseline& baseline, const MetricColumns& only) {
  MetricColumns wanted = only;
  if (only.empty() && !baseline.metrics.empty()) wanted = baseline.columns();
  std::set<const metrics::Column*> compared;
  std::set<const metrics::Metric*> touched;
  for (const ConfigurationCheck& configuration : check.configurations)
    for (const MetricCheck& each : configuration.metrics) {
      compared.insert(each.metric);
      touched.insert(each.metric->metric);
    }
  const auto of_metric = [](const MetricColumns& columns, const metrics::Metric* metric) {
    return std::ranges::count_if(columns, [&](const metrics::Column* column) { return column->metric == metric; });
  };
  MetricColumns all;
  for (const metrics::Column& column : metrics::columns()) all.push_back(&column);
  std::vector<std::string> names;
  for (const metrics::Column* column : wanted) {
    if (compared.contains(column)) continue;
    const bool whole = of_metric(wanted, column->metric) == of_metric(all, column->metric);
    if (!whole || !touched.contains(column->metric)) names.push_back(metrics::short_name(*column));
  }
  return names;
}

// Metrics that somebody held and that say nothing here, each once.
void tell_incomparable(const Check& check, Diagnostics& diagnostics) {
  std::map<std::string, std::pair<const MetricCheck*, std::size_t>> told;
  for (const ConfigurationCheck& configuration : check.configurations)
    for (const MetricCheck& each : configuration.metrics)
      if (each.standing == MetricStanding::ambiguous && !each.reason.empty()) {
        auto& [first, count] = told[each.metric->name];
        if (count++ == 0) first = &each;
      }
  for (const auto& [name, found] : told)
    diagnostics.warning(
        {},
        fmt::format("{} is not judged where it moved{}: it was taken over {}", name,
                    found.second > 1 ? fmt::format(" ({} configurations)", found.second) : "",
                    found.first->reason.substr(0, found.first->reason.find(':'))),
        fmt::format("--update with --metrics takes {} instead", instead_of(*found.first->metric->metric)));
}

// Whether an amount of money was compared with one in another currency, or with one of which nobody knows.
void check_currencies(const ConfigurationCheck& check, const Configuration& now, const Baseline::Configuration& before,
                      bool& told, Diagnostics& diagnostics) {
  const auto has_money = [](const MetricCheck& each) { return each.before && each.now && counts_money(*each.metric); };
  if (told || now.currency == before.currency || std::ranges::none_of(check.metrics, has_money)) return;
  told = true;
  if (!before.currency.empty() && !now.currency.empty())
    diagnostics.error({},
                      fmt::format("costs in unlike currencies are not compared: the baseline's are in {}, those of "
                                  "the results in {}",
                                  before.currency, now.currency),
                      "--update rewrites it; --metrics names what is compared");
  else
    diagnostics.warning({},
                        fmt::format("the {} not say what costs are in; they are compared as if in {}",
                                    before.currency.empty() ? "baseline does" : "results do",
                                    before.currency.empty() ? now.currency : before.currency),
                        before.currency.empty() ? "--update writes it down" : "");
}

}  // namespace

std::string_view name_of(MetricStanding standing) {
  static constexpr std::array<std::string_view, 4> kNames = {"SAME", "BETTER", "AMBIGUOUS", "WORSE"};
  return kNames[static_cast<std::size_t>(standing)];
}

std::optional<double> MetricCheck::change() const {
  if (!before || !now || before->value == 0) return std::nullopt;
  return (now->value - before->value) / std::abs(before->value);
}

std::size_t Check::count(MetricStanding standing) const {
  std::ptrdiff_t all = 0;
  for (const ConfigurationCheck& c : configurations)
    all += std::ranges::count(c.metrics, standing, &MetricCheck::standing);
  return static_cast<std::size_t>(all);
}

std::size_t Check::metrics() const {
  std::size_t all = 0;
  for (const ConfigurationCheck& configuration : configurations) all += configuration.metrics.size();
  return all;
}

std::size_t Check::problems() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(configurations, [](const ConfigurationCheck& c) { return !c.problem.empty(); }));
}

std::optional<Check> check(const ResultsTable& table, const Baseline& baseline, const MetricColumns& only,
                           Diagnostics& diagnostics) {
  if (std::set(table.axes.begin(), table.axes.end()) != std::set(baseline.axes.begin(), baseline.axes.end())) {
    diagnostics.error({}, fmt::format("the baseline has the axes {}, the results have {}", baseline.axes, table.axes),
                      "--update rewrites it");
    return std::nullopt;
  }
  auto missing = by_values(baseline, table.axes);
  Check result;
  bool told = false;  // of currencies
  const int errors = diagnostics.errors();
  for (const Configuration& configuration : configurations(table)) {
    const auto known = missing.find(configuration.values);
    result.configurations.push_back(
        compare(configuration, known == missing.end() ? nullptr : known->second, baseline, only, table));
    if (known == missing.end()) continue;
    check_currencies(result.configurations.back(), configuration, *known->second, told, diagnostics);
    missing.erase(known);
  }
  if (diagnostics.errors() > errors) return std::nullopt;
  tell_incomparable(result, diagnostics);
  const std::vector<std::string> names = short_names(table.axes);
  for (const Baseline::Configuration& configuration : baseline.configurations)
    for (const auto& [values, lost] : missing)
      if (lost == &configuration) result.configurations.push_back({label_of(names, values), "the results lack it", {}});
  if (result.metrics() == 0 && result.problems() == 0) {
    diagnostics.error({}, "nothing is compared: neither the baseline nor the results have such a metric");
    return std::nullopt;
  }
  if (result.problems() > 0) return result;  // it fails whatever else is compared
  if (const auto lost = never_compared(result, baseline, only); !lost.empty()) {
    diagnostics.error({}, fmt::format("neither the baseline nor the results have {}", fmt::join(lost, ", ")),
                      "name what they have: 'llmscape list metrics'");
    return std::nullopt;
  }
  return result;
}

}  // namespace llmscape::explore
