// SPDX-License-Identifier: Apache-2.0
#include "sim/run/intervals.hpp"

#include "hardware/uncertain.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/run/pool.hpp"
#include "sim/run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace llmscape::run {
namespace {

// Devices of one name err alike, wherever they stand.
std::vector<hardware::TimeFactors> factors_of(const scenario::Scenario& scenario, std::size_t run) {
  const auto& devices = scenario.config.hardware.devices;
  const RandomStreams streams = RandomStreams(static_cast<std::uint64_t>(scenario.config.seed)).child("intervals", run);
  std::vector<hardware::TimeFactors> factors;
  for (const auto& device : devices) {
    const auto first = std::ranges::find(devices, device->name, [](const auto& d) { return d->name; });
    factors.push_back(
        draw_factors(*device, streams.stream("device", static_cast<std::uint64_t>(first - devices.begin()))));
  }
  return factors;
}

std::string one_run(const scenario::Scenario& scenario, std::size_t run) {
  world::Options options;
  options.time_factors = factors_of(scenario, run);
  Diagnostics diagnostics;
  const result::RunResult result = run::run_scenario(scenario, options, diagnostics);
  if (diagnostics.has_errors()) return "";  // a broken trace: the run itself reports it
  std::string text;
  for (const metrics::Column& column : metrics::columns())
    if (const auto value = column.interval ? column.value(result) : std::nullopt)
      text += fmt::format("{} {}\n", column.name, *value);
  return text;
}

result::Intervals collect(const std::vector<std::string>& texts) {
  std::vector<std::string> names;  // in the order of the metrics
  std::map<std::string, std::vector<double>> values;
  for (const std::string& text : texts) {
    std::istringstream lines(text);
    std::string name;
    for (double value = 0; lines >> name >> value;) {
      if (values[name].empty()) names.push_back(name);
      values[name].push_back(value);
    }
  }
  result::Intervals intervals;
  for (const std::string& name : names) {
    std::vector<double>& all = values[name];
    if (all.size() < result::kIntervalRuns) continue;  // in some run nothing was completed
    std::ranges::sort(all);
    intervals.metrics.push_back({name, all[1], all[result::kIntervalRuns - 2]});
  }
  return intervals;
}

}  // namespace

result::Intervals predict_intervals(const scenario::Scenario& scenario, int jobs,
                                    const std::function<void()>& after_each) {
  std::vector<std::string> texts(result::kIntervalRuns);
  run_forked(
      result::kIntervalRuns, [&](std::size_t run) { return one_run(scenario, run); }, {jobs, {}, {}},
      [&](std::size_t run, TaskOutcome outcome) {
        if (!outcome.ok) throw std::runtime_error(fmt::format("run {} of the intervals: {}", run + 1, outcome.text));
        texts[run] = std::move(outcome.text);
        after_each();
        return true;
      });
  return collect(texts);
}

}  // namespace llmscape::run
