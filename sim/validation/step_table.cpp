// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/step_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/step_work.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/serving/replica/step_ledger.hpp"

namespace llmscape::validation {
namespace {

using hardware::MeasuredStep;

const hardware::Device& device_of(const scenario::Scenario& scenario) {
  return *scenario.config.hardware.devices.front();
}

// Tokens without a sequence that a captured graph adds to a step of decodes.
std::int64_t padding_of(const hardware::StepComposition& step, const scenario::Scenario& scenario) {
  const scenario::PoolConfig& pool = scenario.pools.front();
  const auto hosts = device_of(scenario).hosts(scenario.model_on(pool, device_of(scenario)), pool.plan());
  if (step.prompts > 0 || std::ranges::none_of(hosts, &hardware::HostDriven::graphs)) return 0;
  return engine::padded_tokens(step.decodes, scenario::settings_of(pool).graphs) - step.decodes;
}

// The part of a whole step's time that was the device's; nothing where the host alone took as long.
std::optional<Seconds> device_time(Seconds whole, const MeasuredStep& step, const scenario::Scenario& scenario,
                                   engine::EngineModel& model, const std::vector<std::int64_t>& laws) {
  const engine::EngineCost cost = model.step(hardware::ComposedBatch(step, laws).batch());
  serving::StepTiming timing;
  timing.hides_host = scenario.pools.front().batcher->depth() > 1;
  engine::EngineCost idle = cost;  // the same host beside a device that takes no time
  idle.device = Seconds();
  if (whole <= timing.duration(idle)) return std::nullopt;
  return whole - cost.sync - (timing.hides_host ? Seconds() : cost.host);
}

std::vector<Comparison> compare_held_out(const std::vector<hardware::HeldOutStep>& steps) {
  std::vector<Pair> priced, tabled;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    priced.push_back({fmt::format("held-out step {}", i), steps[i].priced, steps[i].measured});
    tabled.push_back({fmt::format("held-out step {}", i), steps[i].tabled, steps[i].measured});
  }
  return {compare("priced by the device alone", "s", priced), compare("corrected by the other steps", "s", tabled)};
}

// To six digits: no step is measured better.
Seconds legible(Seconds time) { return Seconds(std::stod(fmt::format("{:.6g}", time.si()))); }

std::vector<std::string> reasons_against(const scenario::Scenario& scenario) {
  std::vector<std::string> reasons;
  if (scenario.pools.size() != 1 || scenario.config.hardware.devices.size() != 1)
    reasons.emplace_back("measured steps are of one pool on one group of devices");
  else if (scenario.pools.front().plan().pipeline != 1)
    reasons.emplace_back("measured steps do not tell the stages of a pipeline apart: pipeline_parallel has to be 1");
  return reasons;
}

// Columns of times with what their names say: "times in 'device_us' are in us".
std::string told_units(const std::set<std::string>& columns) {
  std::string told;
  for (const std::string& column : columns)
    told += fmt::format("{}times in '{}' are in {}", told.empty() ? "" : ", ", column,
                        column.substr(column.rfind('_') + 1));
  return told;
}

// Reports times that no device like the scenario's takes: a correction would not be one of its pricing.
void judge_ratio(double ratio, const std::set<std::string>& columns, const std::string& device,
                 const SourceRange& where, Diagnostics& diagnostics) {
  constexpr double kRefused = 10, kDoubtful = 3;  // units are a thousand apart, and a base that is off by three is none
  const double off = std::max(ratio, 1 / ratio);
  if (off <= kDoubtful) return;
  const std::string units = told_units(columns);
  std::string message = fmt::format("the median step took {} times what {} takes for it{}{}",
                                    ratio < 100 ? fmt::format("{:.2g}", ratio) : fmt::format("{:.0f}", ratio), device,
                                    units.empty() ? "" : "; ", units);
  if (off > kRefused)
    diagnostics.error(where, message + ". Beyond a factor of 10 they are in another unit, or of another device");
  else diagnostics.warning(where, std::move(message));
}

}  // namespace

MeasuredSteps measured_steps(const traces::EngineRecord& record, const scenario::Scenario& scenario) {
  MeasuredSteps measured;
  for (const traces::EngineStep& step : record.steps) {
    if (step.device_s <= 0 || step.chunks.size() + step.decodes.size() == 0) continue;
    models::Attended attended;
    for (const std::int64_t context : step.decodes) {
      attended.sum += context;
      attended.max = std::max(attended.max, context);
    }
    models::Batch batch;
    batch.chunks = step.chunks;
    batch.decodes = static_cast<std::int64_t>(step.decodes.size());
    batch.attended = {&attended, 1};
    MeasuredStep row;
    static_cast<hardware::StepComposition&>(row) = hardware::composition_of(batch);
    row.padding = record.graphs ? padding_of(row, scenario) : 0;
    row.time = Seconds(step.device_s);
    measured.steps.push_back(row);
  }
  return measured;
}

MeasuredSteps measured_steps(const traces::StepRows& rows, const scenario::Scenario& scenario) {
  const scenario::PoolConfig& pool = scenario.pools.front();
  const models::ModelSpec& spec = scenario.model_on(pool, device_of(scenario));
  const auto laws = models::kv_laws(spec);
  const auto model = engine::bind(device_of(scenario), spec, pool.plan(), scenario::settings_of(pool));
  MeasuredSteps measured;
  if (!rows.time.empty()) measured.times.insert(rows.time);
  for (const traces::StepRow& row : rows.steps) {
    MeasuredStep step;
    step.prompts = row.prompts;
    step.prompt_tokens = row.prompt_tokens;
    step.cached_tokens = row.cached_tokens;
    step.decodes = row.decodes;
    step.context = row.context;
    step.longest_context = row.longest_context;
    step.padding = padding_of(step, scenario);
    step.time = Seconds(row.seconds);
    if (rows.whole) {
      const auto device = device_time(step.time, step, scenario, *model, laws);
      if (!device) {
        ++measured.host_bound;
        continue;
      }
      step.time = *device;
    }
    measured.steps.push_back(step);
  }
  return measured;
}

std::optional<StepTable> step_table(const MeasuredSteps& measured, const scenario::Scenario& scenario,
                                    const std::string& source, const SourceRange& where, Diagnostics& diagnostics) {
  if (const auto reasons = reasons_against(scenario); !reasons.empty()) {
    for (const std::string& reason : reasons) diagnostics.error(where, reason);
    return std::nullopt;
  }
  if (measured.host_bound > 0 && measured.steps.size() < hardware::kFewestSteps) {
    const std::string units = told_units(measured.times);
    diagnostics.error(
        where, fmt::format("{} of {} steps took no longer than the host alone and are left out: a step "
                           "table needs {} others, and there are {}{}",
                           measured.host_bound, measured.host_bound + measured.steps.size(), hardware::kFewestSteps,
                           measured.steps.size(), units.empty() ? "" : "; " + units));
    return std::nullopt;
  }
  const scenario::PoolConfig& pool = scenario.pools.front();
  const models::ModelSpec& model = scenario.model_on(pool, device_of(scenario));
  const models::ParallelPlan plan = pool.plan();
  const auto priced = device_of(scenario).bind(model, plan, scenario::settings_of(pool).device);
  StepTable table;
  try {
    table.fit = hardware::fit_steps(measured.steps, *priced, models::kv_laws(model));
  } catch (const std::invalid_argument& reason) {
    diagnostics.error(where, reason.what());
    return std::nullopt;
  }
  judge_ratio(table.fit.ratio, measured.times, device_of(scenario).name, where, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  table.comparisons = compare_held_out(table.fit.held_out);
  for (const hardware::HeldOutStep& step : table.fit.held_out)
    table.inside += step.trust / static_cast<double>(table.fit.held_out.size());
  hardware::StepsDevice& device = table.device;
  device.device = scenario.config.hardware.devices.front();
  device.count = device.device->count;
  device.with = {
      model.name, model.precision.weights.name, model.precision.kv.name(), plan.tensor, plan.pipeline, plan.expert,
      plan.data};
  device.source = source;
  device.smoothing = table.fit.smoothing;
  device.steps = table.fit.steps;
  for (MeasuredStep& step : device.steps) step.time = legible(step.time);
  return table;
}

}  // namespace llmscape::validation
