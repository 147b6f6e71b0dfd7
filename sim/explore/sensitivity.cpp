// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/process_pool.hpp"
#include "sim/explore/comparable.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/run/run.hpp"

namespace llmscape::explore {
namespace {

// What a child tells of its run.
struct Told {
  std::optional<std::string> refused;  // why there was none
  std::string verdict;
  std::vector<std::optional<double>> metrics;
  std::vector<std::string> warnings;
  std::vector<std::optional<double>> over;  // as an Extent has them
  template <class Message>
  void cross(Message& m) {
    m(refused, verdict, metrics, warnings, over);
  }
  [[nodiscard]] Extent extent() const { return {over.at(0), over.at(1), over.at(2), over.at(3)}; }
};

Told run_with(const scenario::Scenario& base, const std::vector<std::string>& overrides,
              const SensitivityOptions& options) {
  Diagnostics diagnostics;
  const auto scenario =
      scenario::read_scenario(base.resolved, base.folder, overrides, std::nullopt, options.catalogs, diagnostics);
  Told told;
  if (!scenario) {
    told.refused = diagnostics.sorted().front().message;
    return told;
  }
  const result::RunResult result = run::run_scenario(*scenario, run::one_of_many(), diagnostics);
  if (diagnostics.has_errors()) throw std::runtime_error(diagnostics.text(false));
  told.verdict = metrics::name_of(result.verdict.state);
  told.warnings = result.warnings;
  for (const metrics::Column* column : options.metrics) told.metrics.push_back(column->value(result));
  for (const char* name : {"window_s", "simulated_s", "completed", "peak_window_s"})
    told.over.push_back(metrics::find_column(name)->value(result));
  return told;
}

constexpr double kNoEffect = 1e-9;  // relative

std::optional<double> change_of(const std::optional<double>& value, const std::optional<double>& base) {
  if (!value || !base) return std::nullopt;
  // Sums of the same terms in another order differ by less.
  if (std::abs(*value - *base) <= kNoEffect * std::abs(*base)) return 0;
  return *base != 0 ? std::optional(*value / *base - 1) : std::nullopt;
}

// Whether one of the warnings of its run says that nothing reads it.
bool said_unused(const std::vector<std::string>& warnings, const Parameter& parameter) {
  std::string path = parameter.override;
  if (path.ends_with(".value")) path.resize(path.size() - std::string_view(".value").size());
  const std::string about = path + " is set, but no price";
  return std::ranges::any_of(warnings, [&](const std::string& w) { return w.starts_with(about); });
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
  std::vector<std::size_t> variants(runs - 1);
  std::iota(variants.begin(), variants.end(), std::size_t{1});
  std::vector<Told> told(runs);
  std::size_t ended = 0;
  ProcessPool<std::size_t, Told> pool(
      [&](std::size_t run) {
        if (run == 0) return run_with(scenario, {}, options);
        const double factor = run <= count ? 1 + options.change : 1 - options.change;
        return run_with(scenario, {scaled(changed(run), factor)}, options);
      },
      {options.jobs, {}, {}, runs});
  const auto keep = [&](std::size_t run, TaskOutcome<Told> outcome) {
    if (!outcome.answer) {
      const std::string which = run == 0 ? "the base" : changed(run).path;
      throw std::runtime_error(fmt::format("the run of {}: {}", which, outcome.error));
    }
    told[run] = std::move(*outcome.answer);
    if (options.after_each) options.after_each(static_cast<double>(++ended) / static_cast<double>(runs));
    return true;
  };
  pool.run(std::vector<std::size_t>{0}, keep);
  out.verdict = told[0].verdict;
  out.base = told[0].metrics;
  if (options.needs_all_metrics && std::ranges::any_of(out.base, [](const auto& value) { return !value; })) return out;
  pool.run(variants, keep);

  std::vector<bool> read(count);
  for (std::size_t run = 1; run < runs; ++run) {
    ParameterEffects& row = out.parameters[(run - 1) % count];
    const bool more = run <= count;
    row.effects.resize(out.metrics.size());
    (more ? row.more : row.less) = told[run].refused.value_or("");
    if (told[run].refused) continue;
    // A limit may count when it is lower and not when it is higher.
    const bool unused = said_unused(told[run].warnings, row.parameter);
    if (!unused) read[(run - 1) % count] = true;
    row.unused = unused && !read[(run - 1) % count];
    for (std::size_t m = 0; m < out.metrics.size(); ++m) {
      if (comparable(*out.metrics[m]->metric, told[0].extent(), told[run].extent()))
        (more ? row.effects[m].more : row.effects[m].less) = change_of(told[run].metrics[m], out.base[m]);
      else if (std::ranges::find(out.incomparable, out.metrics[m]) == out.incomparable.end())
        out.incomparable.push_back(out.metrics[m]);
    }
  }
  std::ranges::stable_sort(out.parameters, std::greater(), &ParameterEffects::largest);
  return out;
}

}  // namespace llmscape::explore
