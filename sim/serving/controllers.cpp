// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/controllers.hpp"

#include <algorithm>
#include <set>

#include "sim/serving/controllers/autoscale.hpp"
#include "sim/serving/controllers/balance.hpp"
#include "sim/serving/controllers/convert.hpp"
#include "sim/serving/controllers/drain.hpp"
#include "sim/serving/controllers/threshold.hpp"

namespace llmscape::serving {

const Family<ControllerPolicy>& controllers() {
  static const Family<ControllerPolicy> family(
      "controller", "policy",
      {
          member<Autoscale, ControllerPolicy>("autoscale", "replicas that come and go with the load",
                                              autoscale_fields()),
          member<Balance, ControllerPolicy>("balance", "replicas that change between two pools with their loads",
                                            balance_fields()),
          member<Convert, ControllerPolicy>("convert", "replicas that go to another pool at a given time",
                                            convert_fields()),
          member<Drain, ControllerPolicy>("drain", "replicas that are taken out for maintenance", drain_fields()),
          member<Threshold, ControllerPolicy>("threshold", "the prompt length from which on calls go to another pool",
                                              threshold_fields()),
      });
  return family;
}

std::optional<std::size_t> FleetPlan::pool_named(const std::optional<std::string>& name) const {
  if (!name) return pools.size() == 1 ? std::optional<std::size_t>(0) : std::nullopt;
  const auto found = std::ranges::find(pools, *name, &Pool::name);
  if (found == pools.end()) return std::nullopt;
  return static_cast<std::size_t>(found - pools.begin());
}

std::int64_t FleetPlan::replicas_of(std::size_t pool) const {
  return std::ranges::count(replicas, pool, &Replica::pool);
}

Problem no_such_pool(const std::optional<std::string>& name, const FleetPlan& plan) {
  if (!name) return {"there are several pools: 'pool' has to say which one"};
  std::vector<std::string> known;
  for (const FleetPlan::Pool& pool : plan.pools) known.push_back(pool.name);
  return {"there is no pool " + in_quotes(*name), did_you_mean(*name, known)};
}

std::vector<Problem> unknown_cold_starts(const FleetPlan& plan,
                                         const std::function<bool(const FleetPlan::Replica&)>& of) {
  std::set<std::string> groups;
  for (const FleetPlan::Replica& replica : plan.replicas)
    if (of(replica) && !replica.cold_start) groups.insert(replica.group);
  std::vector<Problem> problems;
  for (const std::string& group : groups)
    problems.push_back({"how long a replica of '" + group + "' takes to start is not known",
                        "say it in 'serving': cold_start: {boot: 30 s, bandwidth: 10 GB/s}"});
  return problems;
}

std::optional<std::size_t> least_busy(const Fleet& fleet, std::size_t pool) {
  std::optional<std::size_t> best;
  for (std::size_t replica = 0; replica < fleet.replicas(); ++replica) {
    if (fleet.pool_of(replica) != pool || fleet.availability(replica) != Availability::serving) continue;
    if (!best || fleet.outstanding(replica) <= fleet.outstanding(*best)) best = replica;
  }
  return best;
}

}  // namespace llmscape::serving
