// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/pace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmscape::observe {
namespace {

// TPOT of nine in ten deployments of docs/accuracy.md is predicted to 22 %.
constexpr double kBeyondErrors = 1.25;

// The statistic "mean" of the metric.
const validation::Statistic* mean_of(const std::vector<validation::Comparison>& all, const std::string& metric) {
  const auto found = std::ranges::find(all, metric, &validation::Comparison::metric);
  return found == all.end() || found->statistics.empty() ? nullptr : &found->statistics.front();
}

}  // namespace

std::optional<HostBound> bound_by_host(const std::vector<validation::Comparison>& comparisons) {
  const auto* tpot = mean_of(comparisons, "tpot");
  const auto* watts = mean_of(comparisons, "mean_w");
  if (!tpot || !watts || tpot->predicted <= 0) return std::nullopt;
  if (tpot->measured < kBeyondErrors * tpot->predicted || watts->measured >= watts->predicted) return std::nullopt;
  return HostBound{tpot->measured, tpot->predicted, watts->measured, watts->predicted};
}

std::string in_words(const HostBound& found) {
  return fmt::format(
      "bound by the host: a token took {:.1f} ms where the devices need {:.1f}, and they drew {:.0f} W where they "
      "would "
      "draw {:.0f} at that pace, so they rested in some {:.0f} % of the time. Hosts of the catalogue have enough "
      "cores: "
      "--set 'hardware.devices[0].host.per_step=TIME' says what a step takes on this one",
      found.tpot * 1e3, found.predicted_tpot * 1e3, found.watts, found.predicted_watts, 100 * found.rested());
}

}  // namespace llmscape::observe
