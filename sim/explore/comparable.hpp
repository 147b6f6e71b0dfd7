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

// What the figures of a result were taken over; nothing where it does not say.
struct Extent {
  std::optional<double> window_s, simulated_s, completed, peak_window_s;
  bool operator==(const Extent&) const = default;
};
Extent extent_of(const Configuration& configuration);

// Whether it is an amount of the window: joules, grams of carbon, money.
bool is_sum(const metrics::Metric& metric);
// What grows with the length of a run, and with the requests in it.
bool is_counter(const metrics::Metric& metric);
// Whether the two have windows of one length, to a thousandth: a faster machine fills sooner, so that its steady window
// is longer and holds more joules for the same work. Unknown lengths count as equal.
bool equal_windows(const Extent& a, const Extent& b);
// Whether a difference of the metric says which of the two is better: sums over windows of one length, or over whole
// runs that completed as many calls; peaks of power in slices of one length; everything else.
bool comparable(const metrics::Metric& metric, const Extent& a, const Extent& b);
// What to look at instead of one that may be incomparable: "cost_per_million_output_tokens".
std::string_view instead_of(const metrics::Metric& metric);
// Why the two are not comparable: "windows of 57.3 and 61.6 s".
std::string unlike(const metrics::Metric& metric, const Extent& a, const Extent& b);

// The metrics in an expression that not all of these results are comparable by. A sum that is divided by
// something with a name, or divides, is taken for a ratio, which is the user's own.
std::vector<const metrics::Column*> incomparable(const Expression& expression, const ResultsTable& table,
                                                 bool include_invalid);
// Reports `what` ("the SLO") for each of them.
void check_comparable(std::string_view what, const SourceRange& where, const Expression& expression,
                      const ResultsTable& table, bool include_invalid, Diagnostics& diagnostics);
// The sums in an expression, as incomparable() takes them.
std::vector<const metrics::Column*> sums_in(const Expression& expression);
// Those, and the peaks in it: all that two results may not be comparable by.
std::vector<const metrics::Column*> guarded_in(const Expression& expression);
// What to do about sums that are not comparable.
std::string advice_on(const metrics::Metric& metric);

}  // namespace llmscape::explore
