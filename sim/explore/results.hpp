// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/expression.hpp"

namespace llmscape::metrics {
struct Metric;
}

namespace llmscape::explore {

// A value with the interval in which it lies; low = high = value where none is known.
struct Estimate {
  double value = 0, low = 0, high = 0;
  bool operator==(const Estimate&) const = default;
};

// One run of a sweep.
struct ResultRow {
  std::uint64_t point = 0;          // its number in the plan
  std::string id;                   // its file is points/<id>.json
  std::vector<std::string> values;  // one for each axis, as the plan writes it: "8 /s"
  std::int64_t repeat = 0, seed = 0;
  std::string verdict;                           // "valid", "noisy", "unsteady", "saturated", "truncated"
  std::vector<std::optional<Estimate>> metrics;  // one for each of metrics::columns()
  // What its joules include: of hardware::kEnergyBoundaryNames, several with '+'; empty: not known.
  std::string energy_boundary{};
  std::string currency{};  // of its costs, as the scenario names it; empty where it has none
  // Of a run that was read from its own file; results.csv does not have them.
  std::string window_rule{};              // its figures are of the window by this rule: "whole" where it has no other
  std::optional<double> largest_batch{};  // sequences in a step of one replica
};

// The table in results.csv: columns `point`, `id`, one for each axis, `repeat`, `seed`, `verdict`, then those of
// metrics::columns(), `<metric>.low` and `<metric>.high` behind a metric where the sweep asked for intervals, then
// `energy_boundary` and `currency`, which older tables lack. An empty cell is a metric that the run does not have. Rows
// are in the order of the plan.
struct ResultsTable {
  std::filesystem::path folder;  // of results.csv and points/
  std::vector<std::string> axes;
  std::vector<ResultRow> rows;
  std::size_t failed = 0;  // points that were run and have no row, as failed/ says
};

// Reads the folder of a sweep (or its results.csv), or of one run (run.json; no axes, one row). Nothing after
// reporting.
std::optional<ResultsTable> read_results(const std::filesystem::path& path, Diagnostics& diagnostics);

// What amounts of money are in, in these rows; those without a price have none.
std::set<std::string> currencies_of(const ResultsTable& table);
// The same in words: "USD", or "EUR or USD" where they differ; "currency" where none says.
std::string currency_of(const ResultsTable& table);

// Their mean, at least one, with its 95 % interval (Student's t); one value is its own interval.
Estimate mean_of(const std::vector<double>& values);

// Rows that differ in nothing but repeat and seed (of each seed the first): the mean of each metric with its 95 %
// interval (Student's t over the repeats), wider by what the rows' own intervals have on either side in the mean; or
// the one row's own interval.
struct Configuration {
  std::vector<std::size_t> rows;  // of ResultsTable::rows, at least one, no seed twice
  std::vector<std::string> values;
  std::string label;  // "rate=8 /s edge=4": axes by their shortest unambiguous name
  // "truncated" if one is; the first that drifts where half of them or more do. Repeats of which some are not valid
  // alone are valid together where 200 calls of all were completed and the 95 % interval of the mean p99 TTFT is within
  // 30 %, else noisy.
  std::string verdict;
  std::vector<std::optional<Estimate>> metrics;
  std::string energy_boundary, currency;  // as of its rows
};
// Whether a run with this verdict saw its load rise ("unsteady", "saturated"). Of one seed that may be chance: so many
// of several seeds as half of them say it of the configuration, whatever their number.
bool drifts(std::string_view verdict);
bool is_half(std::size_t some, std::size_t all);
// The interval of the repeats alone, without the rows' own; one row is its own.
std::optional<Estimate> over_repeats(const ResultsTable& table, const Configuration& configuration, std::size_t metric);
// In the order of their first row.
std::vector<Configuration> configurations(const ResultsTable& table);

// The shortest ends of dotted names that tell them apart and are no metric: "workload.arrivals.rate" -> "rate".
std::vector<std::string> short_names(const std::vector<std::string>& names);
// "rate=8 /s edge=4" of the names and values of axes.
std::string label_of(const std::vector<std::string>& names, const std::vector<std::string>& values);

// The place among the axes of one by its name, or by an end of it that fits no other and is no metric; nothing if there
// is none.
std::optional<std::size_t> find_axis(const std::vector<std::string>& axes, std::string_view name);

// What an expression may name of a configuration: metrics ("ttft.p99", "ttft_s.p99"), axes (whole or by their short
// name), `verdict`, `energy_boundary`, `currency`.
Expression::Lookup lookup_in(const ResultsTable& table, const Configuration& configuration);
// Reports the names that lookup_in would not know, with the nearest one that it does.
void check_names(const Expression& expression, const ResultsTable& table, Diagnostics& diagnostics);
// Reports metrics that none of the results has: a condition on them holds for nothing.
void check_known(const Expression& expression, const ResultsTable& table, Diagnostics& diagnostics);
// What a scenario lacks whose runs do not have the metric: "give the scenario prices: cost.devices". Empty: not known.
std::string needed_for(const metrics::Metric& metric);
// The unit of a metric, as its table has it; nothing of what is none, and of units that no text has (grams).
std::optional<NameUnit> unit_of(const metrics::Metric& metric);
std::optional<NameUnit> unit_of_metric(std::string_view name);
// The unit that all values of an axis have; nothing where they differ or are no quantities.
std::optional<NameUnit> unit_of_values(const std::vector<std::string>& values);
// Reports comparisons of quantities with bare numbers or with quantities of another kind, as Expression::check_units.
void check_units(const Expression& expression, const ResultsTable& table, Diagnostics& diagnostics);
// Whether a name stands for text in all of these results: a verdict, an axis of names.
bool is_text(std::string_view name, const ResultsTable& table);

}  // namespace llmscape::explore
