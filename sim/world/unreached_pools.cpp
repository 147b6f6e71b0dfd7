// SPDX-License-Identifier: Apache-2.0
#include "sim/world/unreached_pools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace llmscape::world {
namespace {

// Whether the pool takes all calls that another one does; decoders by their classes alone.
bool takes_all(const scenario::PoolConfig& pool, const scenario::PoolConfig& of) {
  const bool decodes = pool.role == serving::Role::decode;
  if (decodes != (of.role == serving::Role::decode) || pool.model != of.model) return false;
  const auto& [longer_than, up_to, classes] = pool.accepts;
  const auto takes = [&all = classes](const std::string& name) { return std::ranges::find(all, name) != all.end(); };
  if (!classes.empty() && (of.accepts.classes.empty() || !std::ranges::all_of(of.accepts.classes, takes))) return false;
  constexpr auto kAll = std::numeric_limits<std::int64_t>::max();
  return decodes || (longer_than.value_or(-1) <= of.accepts.longer_than.value_or(-1) &&
                     up_to.value_or(kAll) >= of.accepts.up_to.value_or(kAll));
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
      if (steps[first] == 0 || !takes_all(pools[first], pools[later])) continue;
      sentences.push_back(fmt::format(
          "pool '{}' was sent no call: '{}' takes {} and is asked first (serving.placement: least_loaded deals them "
          "out)",
          scenario::name_of(pools[later]), scenario::name_of(pools[first]),
          takes_all(pools[later], pools[first]) ? "the same ones" : "all that it takes"));
      break;
    }
  }
  return sentences;
}

}  // namespace llmscape::world
