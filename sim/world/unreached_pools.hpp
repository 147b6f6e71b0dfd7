// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sim/world/assemble.hpp"

namespace llmscape::world {

// Pools whose replicas never worked, as one before them takes all of their calls and pools are asked in their order,
// one sentence each.
std::vector<std::string> unreached_pools(const Ended& parts, const std::vector<serving::ReplicaTotals>& totals);

}  // namespace llmscape::world
