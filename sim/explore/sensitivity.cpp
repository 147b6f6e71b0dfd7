// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sim/result/metric_table.hpp"
#include "sim/run/pool.hpp"
#include "sim/run/run.hpp"

namespace llmscape::explore {
namespace {

using Json = nlohmann::json;

// What a child tells of its run: {"verdict": ..., "metrics": [...]}, or {"refused": ...}.
std::string run_with(const scenario::Scenario& base, const std::vector<std::string>& overrides,
                     const SensitivityOptions& options) {
  Diagnostics diagnostics;
  const auto scenario =
      scenario::read_scenario(base.resolved, base.folder, overrides, std::nullopt, options.catalogs, diagnostics);
  if (!scenario) return Json{{"refused", diagnostics.sorted().front().message}}.dump();
  const result::RunResult result = run::run_scenario(*scenario, {}, diagnostics);
  if (diagnostics.has_errors()) throw std::runtime_error(diagnostics.text(false));
  Json told = {
      {"verdict", metrics::name_of(result.verdict.state)}, {"metrics", Json::array()}, {"warnings", result.warnings}};
  for (const metrics::Column* column : options.metrics) {
    const auto value = column->value(result);
    told["metrics"].push_back(value ? Json(*value) : Json());
  }
  return told.dump();
}

std::optional<double> number(const Json& json) {
  return json.is_number() ? std::optional(json.get<double>()) : std::nullopt;
}

std::optional<double> change_of(const Json& metric, const std::optional<double>& base) {
  const auto value = number(metric);
  if (!value || !base) return std::nullopt;
  if (*value == *base) return 0;
  return *base != 0 ? std::optional(*value / *base - 1) : std::nullopt;
}

// Whether one of the warnings of its run says that nothing reads it.
bool said_unused(const Json& warnings, const Parameter& parameter) {
  std::string path = parameter.override;
  if (path.ends_with(".value")) path.resize(path.size() - std::string_view(".value").size());
  const std::string about = path + " is set, but no price";
  return std::ranges::any_of(warnings, [&](const Json& w) { return w.get<std::string>().starts_with(about); });
}

bool chosen(const Parameter& parameter, const std::vector<std::string>& only) {
  return only.empty() || std::ranges::any_of(only, [&](const std::string& text) {
           return parameter.path.find(text) != std::string::npos;
         });
}

}  // namespace

double ParameterEffects::largest() const {
  double largest = 0;
  for (const Effect& effect : effects)
    largest = std::max({largest, std::abs(effect.less.value_or(0)), std::abs(effect.more.value_or(0))});
  return largest;
}

Sensitivity sensitivity(const scenario::Scenario& scenario, const SensitivityOptions& options) {
  Sensitivity out{options.change, options.metrics, {}, "", {}};
  for (Parameter& parameter : hardware_parameters(scenario))
    if (chosen(parameter, options.only)) out.parameters.push_back({std::move(parameter), {}, "", ""});

  // The base first, then more of each, then less of each.
  const std::size_t count = out.parameters.size();
  const std::size_t runs = 1 + (options.change < 1 ? 2 : 1) * count;
  const auto changed = [&out, count](std::size_t run) -> const Parameter& {
    return out.parameters[(run - 1) % count].parameter;
  };
  std::vector<Json> told(runs);
  std::size_t ended = 0;
  run::run_forked(
      runs,
      [&](std::size_t run) {
        if (run == 0) return run_with(scenario, {}, options);
        const double factor = run <= count ? 1 + options.change : 1 - options.change;
        return run_with(scenario, {scaled(changed(run), factor)}, options);
      },
      {options.jobs, {}, {}},
      [&](std::size_t run, const run::TaskOutcome& outcome) {
        if (!outcome.ok) {
          const std::string which = run == 0 ? "the base" : changed(run).path;
          throw std::runtime_error(fmt::format("the run of {}: {}", which, outcome.text));
        }
        told[run] = Json::parse(outcome.text);
        if (options.after_each) options.after_each(static_cast<double>(++ended) / static_cast<double>(runs));
        return true;
      });

  out.verdict = told[0].value("verdict", "");
  for (const Json& metric : told[0]["metrics"]) out.base.push_back(number(metric));
  std::vector<bool> read(count);
  for (std::size_t run = 1; run < runs; ++run) {
    ParameterEffects& row = out.parameters[(run - 1) % count];
    const bool more = run <= count;
    row.effects.resize(out.metrics.size());
    (more ? row.more : row.less) = told[run].value("refused", "");
    if (!told[run].contains("metrics")) continue;
    // A limit may count when it is lower and not when it is higher.
    const bool unused = said_unused(told[run]["warnings"], row.parameter);
    if (!unused) read[(run - 1) % count] = true;
    row.unused = unused && !read[(run - 1) % count];
    for (std::size_t m = 0; m < out.metrics.size(); ++m)
      (more ? row.effects[m].more : row.effects[m].less) = change_of(told[run]["metrics"][m], out.base[m]);
  }
  std::ranges::stable_sort(out.parameters, std::greater(), &ParameterEffects::largest);
  return out;
}

}  // namespace llmscape::explore
