// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/server_spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace llmscape::validation {
namespace {

struct Scored {
  std::vector<std::optional<Value>> deployment;
  metrics::End low, high;
  double measured = 0;
};

std::vector<Scored> scored(const std::vector<RowIntervals>& rows, std::size_t metric,
                           const std::vector<std::string>& columns) {
  std::vector<Scored> all;
  for (const RowIntervals& row : rows) {
    const auto& interval = row.metrics[metric];
    const auto& measured = row.row->measured[metric];
    if (!interval || !measured) continue;
    Scored one{{}, interval->first, interval->second, *measured};
    for (const std::string& column : columns) one.deployment.push_back(row.row->value(column));
    all.push_back(std::move(one));
  }
  return all;
}

// At least 1: intervals are not made smaller.
double quantile_of(std::vector<double> factors) {
  if (factors.empty()) return 1;
  std::ranges::sort(factors);
  const double rank = std::ceil(kServerQuantile * static_cast<double>(factors.size() + 1));
  return std::max(1.0, factors[std::min(factors.size(), static_cast<std::size_t>(rank)) - 1]);
}

template <class Counts>
metrics::ServerSpread spread_of(const std::vector<Scored>& rows, Counts counts) {
  std::vector<double> below, above;
  for (const Scored& row : rows) {
    if (!counts(row)) continue;
    const double above_idle = row.measured - row.low.idle;
    below.push_back(above_idle > 0 ? (row.low.value - row.low.idle) / above_idle : std::numeric_limits<double>::max());
    above.push_back((row.measured - row.high.idle) / (row.high.value - row.high.idle));
  }
  return {1 / quantile_of(std::move(below)), quantile_of(std::move(above))};
}

}  // namespace

metrics::ServerSpread server_spread(const std::vector<RowIntervals>& rows, std::size_t metric) {
  return spread_of(scored(rows, metric, {}), [](const Scored&) { return true; });
}

double held_out_share(const std::vector<RowIntervals>& rows, std::size_t metric,
                      const std::vector<std::string>& columns) {
  const std::vector<Scored> all = scored(rows, metric, columns);
  double held = 0;
  for (const Scored& row : all) {
    const auto spread = spread_of(all, [&](const Scored& other) { return other.deployment != row.deployment; });
    const auto [low, high] = metrics::on_servers(spread, row.low, row.high);
    if (low <= row.measured && row.measured <= high) ++held;
  }
  return all.empty() ? 0 : held / static_cast<double>(all.size());
}

}  // namespace llmscape::validation
