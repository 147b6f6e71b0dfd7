// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/explore/baseline.hpp"

namespace llmscape::explore {

// How a metric stands beside its baseline.
enum class MetricStanding {
  same,       // within the tolerance
  better,     // beyond it, and the intervals are apart
  ambiguous,  // beyond it, but the intervals overlap, or the two are not comparable
  worse,      // beyond it, and the intervals are apart; or it cannot be compared
};
std::string_view name_of(MetricStanding standing);  // "SAME", "BETTER", ...

struct MetricCheck {
  const metrics::Column* metric = nullptr;
  MetricStanding standing = MetricStanding::same;
  std::optional<Estimate> before, now;
  Tolerance tolerance;
  std::string reason;      // that the numbers do not tell: "the results lack it"
  std::string currency{};  // of an amount of money; else empty

  // (now - before) / |before|; nothing if one is missing, or was 0.
  [[nodiscard]] std::optional<double> change() const;
};

struct ConfigurationCheck {
  std::string label;
  std::string problem;               // why it fails as a whole, and nothing of it is compared; else empty
  std::vector<MetricCheck> metrics;  // in the order of metrics::columns()
};

struct Check {
  // In the order of the results; then those that only the baseline has.
  std::vector<ConfigurationCheck> configurations;

  [[nodiscard]] std::size_t count(MetricStanding standing) const;
  [[nodiscard]] std::size_t metrics() const;
  [[nodiscard]] std::size_t problems() const;  // configurations that fail as a whole
  [[nodiscard]] bool passed() const { return count(MetricStanding::worse) == 0 && problems() == 0; }
};

// Holds results against the baseline: those of its metrics, or those of `only` if there are any. A metric of which
// neither more nor less is better must not move. Nothing after reporting that the two cannot be compared.
std::optional<Check> check(const ResultsTable& table, const Baseline& baseline, const MetricColumns& only,
                           Diagnostics& diagnostics);

}  // namespace llmscape::explore
