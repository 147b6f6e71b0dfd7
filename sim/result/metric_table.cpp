// SPDX-License-Identifier: Apache-2.0
#include "sim/result/metric_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace llmscape::metrics {

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> made(latencies().begin(), latencies().end());
    made.insert(made.end(), phases().begin(), phases().end());
    made.insert(made.end(), numbers().begin(), numbers().end());
    return made;
  }();
  return all;
}

std::vector<const Metric*> latencies_of(const Serving& serving) {
  std::vector<const Metric*> all;
  for (const Metric& metric : latencies())
    if (metric.of_request && (!metric.applies || metric.applies(serving))) all.push_back(&metric);
  return all;
}

std::optional<double> Metric::number(const result::RunResult& result) const {
  if (value) return value(result);
  const double* told = result.numbers[key];
  return told ? std::optional(*told) : std::nullopt;
}

std::optional<double> Column::value(const result::RunResult& result) const {
  if (!metric->distribution) return metric->number(result);
  const result::Percentiles* found = result.latency[metric->key];
  return found ? std::optional(found->*of) : std::nullopt;
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all = [] {
    std::vector<Column> made;
    for (const Metric& metric : metrics()) {
      const std::string key(metric.key);
      const std::string pointer = (metric.section.empty() ? "" : "/" + std::string(metric.section)) + "/" + key;
      if (!metric.distribution) {
        made.push_back({key, &metric, "", nullptr, metric.interval, pointer});
        continue;
      }
      for (const Statistic& statistic : kStatistics)
        made.push_back({key + '.' + std::string(statistic.name), &metric, std::string(statistic.name), statistic.of,
                        metric.interval && statistic.interval, pointer + '/' + std::string(statistic.name)});
    }
    return made;
  }();
  return all;
}

std::string short_name(const Column& column) {
  std::string text = column.name;
  constexpr std::string_view kUnit = "_s";
  if (column.metric->unit == "s") text.erase(column.metric->key.size() - kUnit.size(), kUnit.size());
  return text;
}

const Column* find_column(std::string_view name) {
  static const std::map<std::string, const Column*, std::less<>> by_name = [] {
    std::map<std::string, const Column*, std::less<>> made;
    for (const Column& column : columns()) {
      made.emplace(column.name, &column);
      made.emplace(short_name(column), &column);
    }
    return made;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::pair<double, double> on_servers(const ServerSpread& spread, const End& low, const End& high) {
  const double most = high.idle + spread.above * (high.value - high.idle);
  return {low.idle + spread.below * (low.value - low.idle),
          high.most ? std::min(most, std::max(*high.most, high.value)) : most};
}

std::vector<const Column*> find_columns(std::string_view name) {
  if (const Column* column = find_column(name)) return {column};
  std::vector<const Column*> all;
  for (const Column& column : columns())
    if (!column.statistic.empty() &&
        (name == column.metric->key || fmt::format("{}.{}", name, column.statistic) == short_name(column)))
      all.push_back(&column);
  return all;
}

}  // namespace llmscape::metrics
