// SPDX-License-Identifier: Apache-2.0
// The contract of Controller, over every policy in the table.
#include <doctest/doctest.h>

#include <map>

#include "base/random.hpp"
#include "sim/serving/controllers/autoscale.hpp"
#include "sim/serving/controllers/balance.hpp"
#include "sim/serving/controllers/convert.hpp"
#include "sim/serving/controllers/drain.hpp"
#include "sim/serving/controllers/threshold.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "tests/support/plain_engine.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::System;

namespace {

// A policy as it would be configured for a fleet of these roles: replicas of one role in a row are a pool.
struct Case {
  std::shared_ptr<const ControllerPolicy> policy;
  std::vector<Role> roles;
};

// One for each name; a policy without a case fails the test.
std::map<std::string, Case> cases() {
  const auto autoscale = std::make_shared<Autoscale>();
  autoscale->up_at = 6;
  autoscale->down_at = 2;
  autoscale->interval = Seconds(0.5);
  const auto drain = std::make_shared<Drain>();
  drain->at = Seconds(1);
  drain->lasts = Seconds(2);
  drain->group = "group";
  drain->count = 2;
  const auto convert = std::make_shared<Convert>();
  convert->at = Seconds(1);
  convert->from = "pool 0";
  convert->to = "pool 1";
  convert->takes = Seconds(0.5);
  const auto balance = std::make_shared<Balance>();
  balance->between = {{"pool 0", 6, 1}, {"pool 1", 4, 1}};
  balance->interval = Seconds(0.5);
  balance->takes = Seconds(0.5);
  const auto threshold = std::make_shared<Threshold>();
  threshold->shorter = "pool 0";
  threshold->longer = "pool 2";
  threshold->usual = threshold->max = 200;
  threshold->interval = Seconds(0.5);
  const std::vector<Role> alike(4, Role::any), split = {Role::prefill, Role::prefill, Role::prefill, Role::decode};
  return {{"autoscale", {autoscale, alike}},
          {"drain", {drain, alike}},
          {"convert", {convert, split}},
          {"balance", {balance, split}},
          {"threshold", {threshold, {Role::prefill, Role::decode, Role::prefill}}}};
}

FleetPlan fleet_plan(const std::vector<Role>& roles) {
  FleetPlan plan;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (plan.pools.empty() || plan.pools.back().role != roles[i])
      plan.pools.push_back({"pool " + std::to_string(plan.pools.size()), 0, roles[i], "engine"});
    plan.replicas.push_back({plan.pools.size() - 1, "group", static_cast<std::int64_t>(i), 1, Seconds(0.7)});
  }
  return plan;
}

std::vector<workloads::Program> load_in_bursts(std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<workloads::Program> programs;
  double at = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    at += random.exponential(random.chance(0.1) ? 0.3 : 0.01);  // bursts, and pauses between them
    programs.push_back(llmscape::testing::call(at, {{i + 1, random.integer(1, 600)}}, random.integer(2, 60)));
  }
  return programs;
}

}  // namespace

TEST_CASE("under every controller each call is answered once, the fleet ends as large as it was, and runs repeat") {
  const std::map<std::string, Case> known = cases();
  for (const auto& member : controllers().members()) {
    CAPTURE(member.name);
    REQUIRE(known.contains(member.name));
    const auto& [policy, roles] = known.at(member.name);
    const FleetPlan plan = fleet_plan(roles);
    REQUIRE(policy->problems(plan).empty());
    bool acted = false;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      CAPTURE(seed);
      std::vector<Seconds> first;
      for (const bool again : {false, true}) {
        llmscape::testing::SystemConfig config;
        config.replicas = roles.size();
        if (roles.front() != Role::any) config.roles = roles;
        config.controller = [&] { return policy->make(plan); };
        config.shape_pools = [&](std::vector<Pool>& pools) {
          for (std::size_t i = 0; i < pools.size(); ++i) pools[i].off = policy->off_at_first(plan, i);
        };
        System system(config, llmscape::testing::plain_policy(), LeastTokens(), llmscape::testing::plain_seconds);
        system.run(load_in_bursts(seed));
        REQUIRE(system.answers.size() == 200);
        std::vector<Seconds> times;
        for (const auto& answer : system.answers) {
          CHECK(answer.outcome == Outcome::completed);
          CHECK(answer.request.emitted == answer.request.output_tokens);
          CHECK(answer.request.attempt == 0);  // a controller loses nothing: faults do
          times.push_back(answer.at);
        }
        if (again) CHECK(times == first);
        first = times;
        const FleetManager& fleet = system.gateway().fleet();
        std::int64_t serving = 0, changes = 0;
        for (std::size_t pool = 0; pool < fleet.pools(); ++pool) {
          const PoolHistory history = fleet.history(pool, system.end);
          changes += history.starts + history.drains + history.conversions;
          const PoolLoad load = fleet.load(pool);
          serving += load.serving + load.loading + load.draining;
          CHECK(load.requests == 0);
          CHECK(load.waiting == 0);
        }
        CHECK(serving >= 1);
        acted = acted || changes > 0 || member.name == std::string("threshold");
      }
    }
    CHECK(acted);  // the hard case was really met
  }
}
