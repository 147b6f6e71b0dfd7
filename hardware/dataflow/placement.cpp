// SPDX-License-Identifier: Apache-2.0
#include "hardware/dataflow/placement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace llmscape::hardware {

std::int64_t sections_of(const std::vector<Bytes>& stage_weights, const Fabric& fabric, const MemoryTiers& tiers,
                         int sockets) {
  const auto memory_units = static_cast<double>(*fabric.memory_units);
  const Bytes unit = *tiers.sram / memory_units;
  double held = 0;
  for (const Bytes weights : stage_weights) held += std::ceil(weights / sockets / unit);
  const double taken = static_cast<double>(stage_weights.size()) * static_cast<double>(*fabric.least_units);
  const double sections = std::max(held / memory_units, taken / static_cast<double>(*fabric.compute_units));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(sections)));
}

double stage_balance(std::vector<double> work, const Fabric& fabric, std::int64_t sections) {
  std::sort(work.begin(), work.end());
  const double all_work = std::accumulate(work.begin(), work.end(), 0.0);
  const double all_units = static_cast<double>(sections) * static_cast<double>(*fabric.compute_units);
  const auto least = static_cast<double>(*fabric.least_units);
  double left = all_work, units = all_units;
  for (std::size_t i = 0; i + 1 < work.size() && work[i] * units < least * left; ++i) {
    left -= work[i];
    units -= least;
  }
  return all_work / all_units / (left / units);
}

}  // namespace llmscape::hardware
