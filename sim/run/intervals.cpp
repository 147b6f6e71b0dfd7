// SPDX-License-Identifier: Apache-2.0
#include "sim/run/intervals.hpp"

#include "hardware/uncertain.hpp"
#include "sim/run/pool.hpp"
#include "sim/run/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace llmscape::run {
namespace {

using Values = std::vector<std::pair<std::string, double>>;

// What intervals are given for, as far as the result has it.
Values main_metrics(const RunResult& r) {
  Values values;
  const auto add = [&values](std::string name, const std::optional<double>& value) {
    if (value) values.emplace_back(std::move(name), *value);
  };
  const auto add_distribution = [&add](const std::string& name, const std::optional<Percentiles>& p) {
    if (!p) return;
    add(name + ".mean", p->mean);
    add(name + ".p50", p->p50);
    add(name + ".p90", p->p90);
    add(name + ".p95", p->p95);
    add(name + ".p99", p->p99);
  };
  add_distribution("ttft_s", r.ttft_s);
  add_distribution("tpot_s", r.tpot_s);
  add_distribution("itl_s", r.itl_s);
  add_distribution("e2e_s", r.e2e_s);
  add_distribution("context_ttft_s", r.context_ttft_s);
  add("requests_per_s", r.throughput.requests_per_s);
  add("output_tokens_per_s", r.throughput.output_tokens_per_s);
  add("goodput_rps", r.throughput.goodput_rps);
  add("slo_attainment", r.throughput.slo_attainment);
  if (r.energy) add("joules_per_output_token", r.energy->joules_per_output_token);
  if (r.energy) add("mean_w", r.energy->mean_w);
  add("simulated_s", r.simulated_s);
  return values;
}

// Devices of one name err alike, wherever they stand.
std::vector<hardware::TimeFactors> factors_of(const Scenario& scenario, std::size_t run) {
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

std::string one_run(const Scenario& scenario, std::size_t run) {
  RunOptions options;
  options.time_factors = factors_of(scenario, run);
  Diagnostics diagnostics;
  const RunResult result = run_scenario(scenario, options, diagnostics);
  if (diagnostics.has_errors()) return "";  // a broken trace: the run itself reports it
  std::string text;
  for (const auto& [name, value] : main_metrics(result)) text += fmt::format("{} {}\n", name, value);
  return text;
}

Intervals collect(const std::vector<std::string>& texts) {
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
  Intervals intervals;
  for (const std::string& name : names) {
    std::vector<double>& all = values[name];
    if (all.size() < kIntervalRuns) continue;  // in some run nothing was completed
    std::ranges::sort(all);
    intervals.metrics.push_back({name, all[1], all[kIntervalRuns - 2]});
  }
  return intervals;
}

}  // namespace

Intervals predict_intervals(const Scenario& scenario, int jobs, const std::function<void()>& after_each) {
  std::vector<std::string> texts(kIntervalRuns);
  run_forked(
      kIntervalRuns, [&](std::size_t run) { return one_run(scenario, run); }, {jobs, {}, {}},
      [&](std::size_t run, TaskOutcome outcome) {
        if (!outcome.ok) throw std::runtime_error(fmt::format("run {} of the intervals: {}", run + 1, outcome.text));
        texts[run] = std::move(outcome.text);
        after_each();
        return true;
      });
  return collect(texts);
}

}  // namespace llmscape::run
