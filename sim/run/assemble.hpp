// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "sim/kernel/fabric.hpp"
#include "sim/metrics/observer.hpp"
#include "sim/run/metric_table.hpp"
#include "sim/run/portion.hpp"
#include "sim/run/result.hpp"
#include "sim/run/scenario.hpp"
#include "sim/run/tiers.hpp"
#include "sim/serving/gateway/gateway.hpp"

namespace llmscape::run {

// What is left when a run is over; one entry per replica.
struct Parts {
  const Scenario& scenario;
  const metrics::Observer& observer;
  std::vector<const serving::Replica*> replicas;
  std::vector<const hardware::Device*> devices;
  std::vector<const Distribution*> gaps;
  std::vector<std::size_t> pools;                  // of the scenario's, where the replica stood at first
  std::vector<const serving::DeviceTurns*> turns;  // nullptr where the replica has its devices alone
  std::vector<const metrics::PowerSeries*> power;  // dynamic
  std::vector<std::int64_t> devices_of_replica;
  std::vector<std::int64_t> devices_counted;  // the same, but 0 where one before it has the same ones
  std::vector<std::string> warnings;
  const kernel::Fabric* fabric;
  const Tiers* tiers;
  const metrics::WindowTracker* window;
  const Edges* edges;  // of the window
};

// The distributions that the observer keeps of requests, in its order.
std::vector<const metrics::Metric*> metrics_of_requests(const Scenario& scenario);

// Adds everything up, in the order of the replicas, and checks the invariants. Throws std::logic_error naming the one
// that does not hold.
RunResult assemble(const Parts& parts, const serving::Gateway& gateway, Seconds end);

}  // namespace llmscape::run
