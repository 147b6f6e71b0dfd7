// SPDX-License-Identifier: Apache-2.0
#include "sim/world/unreached_pools.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmscape::world {
namespace {

bool take_the_same(const scenario::PoolConfig& one, const scenario::PoolConfig& other) {
  return one.role == other.role && one.role != serving::Role::decode && one.model == other.model &&
         one.accepts == other.accepts;
}

}  // namespace

std::vector<std::string> unreached_pools(const Ended& parts, const std::vector<serving::ReplicaTotals>& totals) {
  std::vector<std::string> sentences;
  if (parts.scenario.config.serving.placement != serving::Placement::in_order) return sentences;
  const auto& pools = parts.scenario.pools;
  std::vector<std::int64_t> steps(pools.size());
  for (std::size_t r = 0; r < totals.size(); ++r) steps[parts.pools[r]] += totals[r].steps;
  for (std::size_t later = 0; later < pools.size(); ++later) {
    if (steps[later] > 0) continue;
    for (std::size_t first = 0; first < later; ++first) {
      if (steps[first] == 0 || !take_the_same(pools[first], pools[later])) continue;
      sentences.push_back(fmt::format(
          "pool '{}' was sent no call: '{}' takes the same ones and is asked first (serving.placement: least_loaded "
          "deals them out)",
          scenario::name_of(pools[later]), scenario::name_of(pools[first])));
      break;
    }
  }
  return sentences;
}

}  // namespace llmscape::world
