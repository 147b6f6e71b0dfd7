// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/field_info.hpp"
#include "sim/explore/comparable.hpp"
#include "sim/explore/results.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::explore {

using MetricColumns = std::vector<const metrics::Column*>;

// How far a metric may move before it counts: a share of the value in the baseline ("1%"), or an amount in SI units.
struct Tolerance {
  double amount = 0;
  bool relative = false;
  std::string text;  // as written
  [[nodiscard]] double around(double value) const;
};

// What a value is held by: of several runs the mean with its interval, of one run the value alone. What `--intervals`
// gives beside that is the error of the kernel models, which a baseline has in common with later results.
Estimate of_runs(const Estimate& estimate, std::int64_t runs);

// A file of results that later ones are held against (schema baseline/1; `baseline_info()` describes it).
struct Baseline {
  struct Configuration {
    std::vector<std::string> values;          // one for each axis
    std::int64_t runs = 1;                    // repeats that its values are taken over
    std::string currency{};                   // of amounts of money; empty: not known, or there are none
    std::optional<std::int64_t> seed;         // of the first of them, the others count up; absent: not known
    Extent over{};                            // of sums and of the peak of power, where it has some
    std::map<std::string, Estimate> metrics;  // by the name of their column
    // Of each repeat, for metrics that all of several have: later runs with the same seeds are compared seed by seed.
    std::map<std::string, std::vector<double>> by_seed{};
  };
  struct Rule {
    std::string name;       // as written: a column, or a metric with all its statistics
    MetricColumns columns;  // that it is for
    Tolerance tolerance;
  };

  std::string tool;                       // that made it
  Tolerance tolerance{0.01, true, "1%"};  // of metrics that no rule is for
  std::vector<Rule> rules;                // one for a column goes before one for its metric
  std::vector<std::string>
      metrics;  // names of what is compared; empty: every metric that has a better direction and is no sum
  std::vector<std::string> axes;
  std::vector<Configuration> configurations;

  [[nodiscard]] const Tolerance& tolerance_of(const metrics::Column& column) const;
  // The columns of `metrics`. Sums over the window have to be named: they go with its length (comparable.hpp).
  [[nodiscard]] MetricColumns columns() const;
};

// Nothing after reporting.
std::optional<Baseline> read_baseline(const std::filesystem::path& file, Diagnostics& diagnostics);
// The file: configurations in the order of the plan, metrics in that of metrics::columns().
std::string baseline_json(const Baseline& baseline);

// A baseline of these results, with the tolerances and the choice of metrics that `before` has. Reports configurations
// that are not valid: what they say is not to be relied on.
Baseline baseline_of(const ResultsTable& table, const Baseline& before, Diagnostics& diagnostics);

// Keys of the file, for its JSON Schema.
const StructInfo& baseline_info();

}  // namespace llmscape::explore
