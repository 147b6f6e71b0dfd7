// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/run_row.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "sim/result/metric_table.hpp"
#include "sim/result/result_json.hpp"

namespace llmscape::explore {
namespace {

using Json = nlohmann::json;

const Json* find(const Json& run, const std::string& pointer) {
  const Json::json_pointer place(pointer);
  return run.contains(place) ? &run.at(place) : nullptr;
}

std::optional<double> number(const Json& run, const std::string& pointer) {
  const Json* value = find(run, pointer);
  return value && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

std::optional<Estimate> estimate(const Json& run, bool intervals, const metrics::Column& column) {
  const auto value = result::number_in(run, column);
  if (!value) return std::nullopt;
  if (!intervals) return Estimate{*value, *value, *value};
  std::string interval = "/intervals/" + column.name;
  std::ranges::replace(interval, '.', '/');
  return Estimate{*value, number(run, interval + "/low").value_or(*value),
                  number(run, interval + "/high").value_or(*value)};
}

}  // namespace

ResultRow row_of(const Json& run) {
  ResultRow row;
  if (const Json* seed = find(run, "/seed"); seed && seed->is_number_integer()) row.seed = seed->get<std::int64_t>();
  if (const Json* state = find(run, "/verdict/state"); state && state->is_string())
    row.verdict = state->get<std::string>();
  if (const Json* boundary = find(run, "/energy/boundary"); boundary && boundary->is_string())
    row.energy_boundary = boundary->get<std::string>();
  if (const Json* currency = find(run, "/cost/currency"); currency && currency->is_string())
    row.currency = currency->get<std::string>();
  if (const Json* rule = find(run, "/window/rule"); rule && rule->is_string())
    row.window_rule = rule->get<std::string>();
  const bool intervals = run.contains("intervals");
  for (const metrics::Column& column : metrics::columns()) row.metrics.push_back(estimate(run, intervals, column));
  return row;
}

}  // namespace llmscape::explore
