// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "sim/kernel/fabric.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/result/parts.hpp"
#include "sim/result/result.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/world/tiers.hpp"

namespace llmscape::world {

// A run that is over, and what it was of.
struct Ended : result::Parts {
  const scenario::Scenario& scenario;
  std::vector<std::string> warnings;
  const kernel::Fabric* fabric = nullptr;
  const Tiers* tiers = nullptr;
};

// The distributions that the observer keeps of requests, in its order.
std::vector<const metrics::Metric*> metrics_of_requests(const scenario::Scenario& scenario);

// Adds everything up, in the order of the replicas, and checks the invariants. Throws std::logic_error naming the one
// that does not hold.
result::RunResult assemble(const Ended& parts, const serving::Gateway& gateway, Seconds end);

}  // namespace llmscape::world
