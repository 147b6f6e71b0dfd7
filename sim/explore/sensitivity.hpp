// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/parameters.hpp"

namespace llmscape::metrics {
struct Column;
}

namespace llmscape::explore {

// What one figure does to one metric, as a share of the metric: -0.09 is 9 % less. Nothing where a run was refused or
// has no such metric, or where the base is 0.
struct Effect {
  std::optional<double> less, more;  // of the figure
};

struct ParameterEffects {
  Parameter parameter;
  std::vector<Effect> effects;  // one for each metric
  std::string less, more;       // why the scenario is refused with less of it, or with more; empty: it is not
  bool unused = false;          // no price of the run reads it
  // The largest effect on any metric.
  [[nodiscard]] double largest() const;
};

struct Sensitivity {
  double change = 0.1;
  std::vector<const metrics::Column*> metrics;
  std::vector<std::optional<double>> base;   // of each
  std::string verdict;                       // of the base
  std::vector<ParameterEffects> parameters;  // those with the largest effect first
  // Metrics of which some runs have no effect: their windows are of another length than the base's (comparable.hpp).
  std::vector<const metrics::Column*> incomparable{};
};

struct SensitivityOptions {
  double change = 0.1;  // above 0; from 1 on figures are made larger only
  std::vector<const metrics::Column*> metrics;
  bool needs_all_metrics = false;  // where the base lacks one nothing else runs
  std::vector<std::string> only;   // parameters whose path has one of these in it; none: all
  scenario::Catalogs catalogs;
  int jobs = 1;
  std::function<void(double share)> after_each;  // of the runs, as they end; may throw to stop them all
};

// Runs the scenario as it is, and with each of its hardware parameters changed alone, up and down, in child processes
// and with the same seed. The same numbers for any `jobs`. Throws std::runtime_error when a run fails.
Sensitivity sensitivity(const scenario::Scenario& scenario, const SensitivityOptions& options);

}  // namespace llmscape::explore
