// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/expression.hpp"
#include "sim/explore/results.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::explore {

enum class Direction { maximize, minimize, of_metric };  // of_metric: as the metric is better

// A number of a configuration that is to be large or small: a metric, an axis, or arithmetic over them.
struct Objective {
  std::string name;  // "ttft.p99", or the one given to an expression
  Expression expression;
  bool maximize = false;
  std::string unit;  // "s", "tokens/s/user", "USD/Mtoken"; empty where none is known

  // The value as one that is better when smaller, to nine digits: sums of the same terms in another order differ by
  // less, and designs that differ by nothing else are equal.
  [[nodiscard]] double loss(double value) const;
};

// Reads "ttft.p99,output_tokens_per_joule" or "tokens_per_s_per_user=1/tpot.mean". `source` is what messages call the
// text: "--max". Reports names that the table does not have, and leaves their objectives out.
std::vector<Objective> read_objectives(std::string_view text, Direction direction, const std::string& source,
                                       const ResultsTable& table, Diagnostics& diagnostics);
// The same of a scalar of a plan, whose place messages have.
std::vector<Objective> read_objectives(const YamlNode& text, Direction direction, const ResultsTable& table,
                                       Diagnostics& diagnostics);

// The same objectives for everyone, after the charts of InferenceMAX and of papers on edge hardware.
struct ObjectivePreset {
  std::string name, text;
  std::string maximize, minimize;  // as read_objectives takes them
  std::string minimize_of_old{};   // what results of older versions have instead of that
};
const std::vector<ObjectivePreset>& objective_presets();

// Whether joules count in it (a metric of energy, or of the carbon behind it): then runs whose joules include unlike
// things are not compared by it.
bool counts_joules(const Objective& objective);
bool counts_joules(const metrics::Column& column);
// Whether it is an amount of money, or made of one: those in unlike currencies are not compared.
bool counts_money(const Objective& objective);
bool counts_money(const metrics::Column& column);
bool counts_money(const Expression& expression);
// Whether it is of all tokens that were emitted, those of calls that got no answer too.
bool counts_emitted(const Objective& objective);
bool counts_emitted(const metrics::Column& column);
// Reports `what` ("the SLO"), which compares amounts of money, where those of these results are in several currencies.
void check_currency(std::string_view what, const SourceRange& where, const ResultsTable& table,
                    Diagnostics& diagnostics);

// What some of them count, which may be unlike from run to run.
struct Counted {
  bool joules = false, money = false, emitted = false;
};
Counted counted_in(const std::vector<Objective>& objectives);

// Its value of a configuration, with the interval that the intervals of its metrics leave (their ends in all
// combinations: exact where the expression rises or falls in each). Nothing where it has no value.
std::optional<Estimate> estimate_of(const Objective& objective, const ResultsTable& table,
                                    const Configuration& configuration);

}  // namespace llmscape::explore
