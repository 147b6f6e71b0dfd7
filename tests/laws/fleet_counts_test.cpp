// SPDX-License-Identifier: Apache-2.0
// What counts for which pool: missed calls by which it is scaled, and replicas that are taken away.
#include <doctest/doctest.h>

#include "sim/serving/controllers/autoscale.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "tests/support/plain_engine.hpp"

namespace fleet_counts_test {

using namespace llmscape;
using serving::Autoscale;
using serving::FleetPlan;
using serving::PoolHistory;
using serving::Role;
using testing::call;
using testing::plain_policy;
using testing::plain_seconds;
using testing::prompt;
using testing::Script;
using testing::System;
using testing::SystemConfig;

namespace {

// More than a fifth of the calls of 5 s late by half a second: up to all replicas, which stay.
Autoscale by_slo(std::string pool) {
  Autoscale policy;
  policy.pool = std::move(pool);
  policy.by = Autoscale::By::slo;
  policy.up_at = 0.2;
  policy.down_at = 0.05;
  policy.interval = Seconds(1);
  policy.ttft = Seconds(0.5);
  policy.window = Seconds(5);
  policy.down_cooldown = Seconds(1000);
  return policy;
}

// How often a policy started one of the two replicas that are off of the pool it scales, which are the last of `plan`.
std::int64_t starts(SystemConfig config, const Autoscale& policy, const FleetPlan& plan,
                    const std::function<void(std::vector<serving::Pool>&)>& shape,
                    std::vector<workloads::Program> programs) {
  const std::size_t place = *plan.pool_named(policy.pool);
  REQUIRE(policy.problems(plan).empty());
  config.replicas = plan.replicas.size();
  config.controller = [&] { return policy.make(plan); };
  config.shape_pools = [&](std::vector<serving::Pool>& pools) {
    shape(pools);
    pools[place].off = policy.off_at_first(plan, place);
  };
  System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
  system.run(std::move(programs));
  return system.gateway().fleet().history(place, system.end).starts;
}

// Calls of two classes at two pools; a call takes 0.11 s to its first token, so that one replica answers 9 a second.
struct TwoClasses {
  TwoClasses() {
    plan.pools = {{"fast", 0, Role::any, "engine"}, {"slow", 0, Role::any, "engine"}};
    for (const std::size_t pool : {0, 1, 1, 1})
      plan.replicas.push_back({pool, pool == 0 ? "a" : "b", 0, 1, Seconds(0.5)});
  }
  // Both pools have replicas of one role, which the table top makes one pool of.
  static void shape(std::vector<serving::Pool>& pools) {
    serving::Pool slow;
    slow.router = serving::LeastTokens().make();
    slow.replicas.assign(pools[0].replicas.begin() + 1, pools[0].replicas.end());
    slow.accepts.slo_classes = {1};
    pools[0].replicas.resize(1);
    pools[0].accepts.slo_classes = {0};
    pools.push_back(std::move(slow));
  }
  // So many calls of a class a second, for 20 s.
  static std::vector<workloads::Program> calls(int fast, int slow) {
    std::vector<workloads::Program> programs;
    std::uint64_t id = 0;
    for (int i = 0; i < 20 * fast * slow; ++i) {
      const double at = i / static_cast<double>(fast * slow);
      for (const auto& [rate, slo_class] : {std::pair{fast, 0}, {slow, 1}}) {
        if (i % (fast * slow / rate) != 0) continue;
        programs.push_back(call(at, prompt(++id, 1000), 1));
        programs.back().slo_class = slo_class;
      }
    }
    return programs;
  }
  FleetPlan plan;
};

}  // namespace

TEST_CASE("a pool is scaled by the calls that went to it, not by those that another pool of its model was late with") {
  const TwoClasses two;
  // 15 calls a second are more than one replica of `fast` answers: late by more than 0.5 s after a second. `slow` has
  // two a second, in time.
  CHECK(starts({}, by_slo("slow"), two.plan, TwoClasses::shape, TwoClasses::calls(15, 2)) == 0);
  // And the other way round both that are off start, a look apart.
  CHECK(starts({}, by_slo("slow"), two.plan, TwoClasses::shape, TwoClasses::calls(2, 15)) >= 1);
}

TEST_CASE("a call that is dropped in the queue is a miss of the pools that take calls like it") {
  const TwoClasses two;
  SystemConfig config;
  // One call at a time, nobody waits: of 15 calls a second of one class 9 at most are answered, 6 in 15 are dropped.
  config.gateway.admission = {1, 0};
  std::vector<workloads::Program> slow, fast;
  for (int i = 0; i < 300; ++i) {
    slow.push_back(call(i / 15.0, prompt(static_cast<std::uint64_t>(i) + 1, 1000), 1));
    slow.back().slo_class = 1;
    fast.push_back(call(i / 15.0, prompt(static_cast<std::uint64_t>(i) + 1, 1000), 1));
  }
  CHECK(starts(config, by_slo("slow"), two.plan, TwoClasses::shape, slow) == 2);
  CHECK(starts(config, by_slo("slow"), two.plan, TwoClasses::shape, fast) == 0);
}

TEST_CASE("of a disaggregated model the misses are the prefill pool's, and a pool that decodes is not scaled by them") {
  FleetPlan plan;
  plan.pools = {{"decode", 0, Role::decode, "engine"}, {"prefill", 0, Role::prefill, "engine"}};
  for (const std::size_t pool : {0, 1, 1, 1})
    plan.replicas.push_back({pool, pool == 0 ? "a" : "b", 0, 1, Seconds(0.5)});
  SystemConfig config;
  config.roles = {Role::decode, Role::prefill, Role::prefill, Role::prefill};
  std::vector<workloads::Program> programs;
  for (int i = 0; i < 300; ++i) programs.push_back(call(i / 15.0, prompt(static_cast<std::uint64_t>(i) + 1, 1000), 2));
  CHECK(starts(config, by_slo("prefill"), plan, [](std::vector<serving::Pool>&) {}, programs) >= 1);
  const auto problems = by_slo("decode").problems(plan);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].hint == "scale it by: calls");
}

TEST_CASE("a loss or a drain counts where it takes a replica away, not where it finds one down, off or leaving") {
  SystemConfig config;
  config.replicas = 3;
  // The first is lost, then lost and cordoned while it is down. The second leaves, and is cordoned while it does; then
  // it is off and lost. The third is cordoned, lost while it leaves, and lost again.
  config.controller = [] {
    using serving::Fleet;
    return std::make_unique<Script>(
        std::vector<Script::Act>{{0.01, [](Fleet& fleet, Seconds now) { fleet.lose(0, false, now); }},
                                 {0.02, [](Fleet& fleet, Seconds now) { fleet.lose(0, false, now); }},
                                 {0.03, [](Fleet& fleet, Seconds now) { fleet.cordon(0, false, now); }},
                                 {0.04, [](Fleet& fleet, Seconds now) { fleet.drain(1, now); }},
                                 {0.05, [](Fleet& fleet, Seconds now) { fleet.cordon(1, false, now); }},
                                 {9.00, [](Fleet& fleet, Seconds now) { fleet.lose(1, false, now); }},
                                 {9.01, [](Fleet& fleet, Seconds now) { fleet.cordon(2, false, now); }},
                                 {9.02, [](Fleet& fleet, Seconds now) { fleet.lose(2, false, now); }},
                                 {9.03, [](Fleet& fleet, Seconds now) { fleet.lose(2, false, now); }},
                                 {9.04, [](Fleet& fleet, Seconds now) {
                                    for (int i = 0; i < 3; ++i) fleet.repair(0, Seconds(0.1), now);
                                  }}});
  };
  System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
  // A call at each replica from the first on, and one at 9 s that the third has when it is cordoned.
  std::vector<workloads::Program> programs;
  for (const double at : {0.0, 0.001, 0.002, 9.0}) programs.push_back(call(at, prompt(programs.size() + 1, 1000), 10));
  system.run(std::move(programs));
  const PoolHistory history = system.gateway().fleet().history(0, system.end);
  CHECK(history.losses == 2);  // of the first, and of the third, which had a call still
  CHECK(history.drains == 2);  // of the second and the third
  CHECK(history.starts == 1);  // of the first, when the last of its three is repaired
}

}  // namespace fleet_counts_test
