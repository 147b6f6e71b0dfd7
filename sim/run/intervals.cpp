// SPDX-License-Identifier: Apache-2.0
#include "sim/run/intervals.hpp"

#include "base/process_pool.hpp"
#include "hardware/gpu/gpu.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

namespace llmscape::run {
std::vector<engine::TimeRanks> interval_ranks(const scenario::Scenario& scenario, std::size_t run) {
  // What the catalogue, or the user, describes as the same thing has the same fits: their errors are the same too.
  const auto thing = [](const auto& device) {
    return device->description.empty() ? device->name : device->description;
  };
  const auto& devices = scenario.config.hardware.devices;
  const RandomStreams streams = RandomStreams(static_cast<std::uint64_t>(scenario.config.seed)).child("intervals", run);
  std::vector<engine::TimeRanks> ranks;
  for (const auto& device : devices) {
    const auto first = std::ranges::find(devices, thing(device), thing);
    ranks.push_back(engine::draw_ranks(streams.stream("device", static_cast<std::uint64_t>(first - devices.begin()))));
  }
  return ranks;
}

metrics::End end_of(double value, const metrics::ServerSpread* spread, const result::RunResult& result) {
  metrics::End end{value, 0, {}};
  if (!spread || !spread->above_idle || !result.energy || result.energy->total_joules <= 0) return end;
  end.idle = value * result.energy->idle_share;
  if (result.energy->most_joules) end.most = value * *result.energy->most_joules / result.energy->total_joules;
  return end;
}

std::optional<std::pair<metrics::End, metrics::End>> interval_of(const std::vector<metrics::End>& values) {
  if (values.size() < result::kIntervalRuns) return std::nullopt;
  const auto [least, greatest] = std::ranges::minmax_element(values, {}, &metrics::End::value);
  return std::pair(*least, *greatest);
}

namespace {

using Values = std::vector<std::pair<std::string, metrics::End>>;  // of metrics, by their columns

Values one_run(const scenario::Scenario& scenario, std::size_t run) {
  world::Options options = one_of_many();
  options.time_ranks = interval_ranks(scenario, run);
  Diagnostics diagnostics;
  const result::RunResult result = run_scenario(scenario, options, diagnostics);
  if (diagnostics.has_errors()) return {};  // a broken trace: the run itself reports it
  Values values;
  for (const metrics::Column& column : metrics::columns())
    if (const auto value = column.interval ? column.value(result) : std::nullopt)
      values.emplace_back(column.name, end_of(*value, column.metric->server, result));
  return values;
}

// What a server would show of the metric; nothing where that is not known. Servers were measured on GPUs.
std::optional<std::pair<double, double>> on_servers(const std::string& name,
                                                    const std::pair<metrics::End, metrics::End>& kernels) {
  const metrics::Column& column = *metrics::find_column(name);
  const metrics::ServerSpread* spread = column.metric->server;
  const bool known = column.statistic.empty() || column.statistic == "mean" || column.statistic == "p50";
  if (!spread || !known) return std::nullopt;
  return metrics::on_servers(*spread, kernels.first, kernels.second);
}

bool all_gpus(const scenario::Scenario& scenario) {
  return std::ranges::all_of(scenario.config.hardware.devices, [](const auto& device) {
    return dynamic_cast<const hardware::Gpu*>(device.get()) != nullptr;
  });
}

result::Intervals collect(const scenario::Scenario& scenario, const std::vector<Values>& runs) {
  std::vector<std::string> names;  // in the order of the metrics
  std::map<std::string, std::vector<metrics::End>> values;
  for (const Values& run : runs)
    for (const auto& [name, value] : run) {
      if (values[name].empty()) names.push_back(name);
      values[name].push_back(value);
    }
  result::Intervals intervals;
  const bool servers = all_gpus(scenario);
  for (const std::string& name : names)
    if (const auto interval = interval_of(values[name]))
      intervals.metrics.push_back(
          {name, interval->first.value, interval->second.value, servers ? on_servers(name, *interval) : std::nullopt});
  return intervals;
}

}  // namespace

result::Intervals predict_intervals(const scenario::Scenario& scenario, int jobs,
                                    const std::function<void()>& after_each) {
  std::vector<std::size_t> runs(result::kIntervalRuns);
  std::iota(runs.begin(), runs.end(), std::size_t{0});
  std::vector<Values> values(runs.size());
  ProcessPool<std::size_t, Values> pool([&](std::size_t run) { return one_run(scenario, run); },
                                        {jobs, {}, {}, runs.size()});
  pool.run(runs, [&](std::size_t run, TaskOutcome<Values> outcome) {
    if (!outcome.answer) throw std::runtime_error(fmt::format("run {} of the intervals: {}", run + 1, outcome.error));
    values[run] = std::move(*outcome.answer);
    after_each();
    return true;
  });
  return collect(scenario, values);
}

}  // namespace llmscape::run
