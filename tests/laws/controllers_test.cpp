// SPDX-License-Identifier: Apache-2.0
// Controllers against closed forms: when replicas come, how many there are, where they serve and how long they are
// away.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "sim/serving/controllers/autoscale.hpp"
#include "sim/serving/controllers/balance.hpp"
#include "sim/serving/controllers/convert.hpp"
#include "sim/serving/controllers/drain.hpp"
#include "sim/serving/controllers/fault_injector.hpp"
#include "sim/serving/controllers/threshold.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/plain_engine.hpp"

namespace controllers_test {

using namespace llmscape;
using llmscape::testing::approx;
using serving::Autoscale;
using serving::Availability;
using serving::FleetPlan;
using serving::Outcome;
using serving::Pool;
using serving::Role;
using testing::call;
using testing::kPrefill;
using testing::kStep;
using testing::plain_policy;
using testing::plain_seconds;
using testing::prompt;
using testing::System;
using testing::SystemConfig;

namespace {

constexpr double kColdStart = 2.5;

// Pools by the roles of replicas, as System makes them; all replicas are of one group.
FleetPlan plan_of(std::size_t replicas, const std::vector<Role>& roles = {}) {
  FleetPlan plan;
  for (std::size_t i = 0; i < replicas; ++i) {
    const Role role = roles.empty() ? Role::any : roles[i];
    if (plan.pools.empty() || plan.pools.back().role != role)
      plan.pools.push_back({"pool " + std::to_string(plan.pools.size()), 0, role, "engine"});
    plan.replicas.push_back({plan.pools.size() - 1, "group", static_cast<std::int64_t>(i), 1, Seconds(kColdStart)});
  }
  return plan;
}

// Runs with one controller; so many replicas of the first pool are off when it begins.
struct Controlled {
  Controlled(std::size_t replicas, const serving::ControllerPolicy& controller, std::vector<Role> roles = {})
      : plan(plan_of(replicas, roles)) {
    REQUIRE(controller.problems(plan).empty());
    config.replicas = replicas;
    config.roles = std::move(roles);
    config.controller = [this, &controller] { return controller.make(plan); };
    config.shape_pools = [this, &controller](std::vector<Pool>& pools) {
      for (std::size_t i = 0; i < pools.size(); ++i) pools[i].off = controller.off_at_first(plan, i);
    };
  }
  FleetPlan plan;
  SystemConfig config;
};

// Listens in on how many replicas serve or load.
class Probe : public serving::Controller {
 public:
  struct Seen {
    double at;
    std::int64_t running;
  };
  Probe(double interval, std::vector<Seen>& seen) : interval_(interval), seen_(seen) {}
  [[nodiscard]] Seconds next_event() const override {
    return Seconds(interval_ * static_cast<double>(seen_.size() + 1));
  }
  void act(serving::Fleet& fleet, Seconds now) override {
    const serving::PoolLoad load = fleet.load(0);
    seen_.push_back({now.si(), load.serving + load.loading});
  }

 private:
  double interval_;
  std::vector<Seen>& seen_;
};

Autoscale by_calls(double up_at, double down_at, double interval) {
  Autoscale policy;
  policy.up_at = up_at;
  policy.down_at = down_at;
  policy.interval = Seconds(interval);
  return policy;
}

}  // namespace

TEST_CASE("a call that finds an empty pool is answered after a cold start and its prompt, exactly") {
  Autoscale policy = by_calls(4, 0.5, 1);
  policy.min = 0;
  Controlled run(2, policy);
  System system(run.config, plain_policy(), serving::LeastTokens(), plain_seconds);
  system.run({call(0.37, prompt(1, 1000), 1)});
  REQUIRE(system.answers.size() == 1);
  CHECK(system.answers[0].request.first_token == Seconds(0.37) + Seconds(kColdStart) + Seconds(kPrefill));
  CHECK(system.gateway().fleet().provisioned(0).time(system.end).si() == approx(kColdStart + kPrefill));
  CHECK(system.gateway().fleet().provisioned(1).time(system.end) == Seconds());
}

TEST_CASE("an empty pool that scales by calls empties again, and only what was switched on is counted") {
  Autoscale policy = by_calls(4, 0.5, 1);
  policy.min = 0;
  Controlled run(1, policy);
  System system(run.config, plain_policy(), serving::LeastTokens(), plain_seconds);
  system.run({call(0.5, prompt(1, 1000), 1), call(20.25, prompt(2, 1000), 1)});
  // The look at 4 s finds nothing to do; each call pays a cold start of its own.
  CHECK(system.answers[1].request.first_token.si() == approx(20.25 + kColdStart + kPrefill));
  CHECK(system.gateway().fleet().provisioned(0).time(system.end).si() == approx((4 - 0.5) + (kColdStart + kPrefill)));
  const serving::PoolHistory history = system.gateway().fleet().history(0, system.end);
  CHECK(history.starts == 2);
  CHECK(history.drains == 1);
  CHECK(history.provisioned().si() == approx(system.gateway().fleet().provisioned(0).time(system.end).si()));
}

TEST_CASE("an autoscaler follows a step of load up to its most and down to its fewest replicas") {
  Autoscale policy = by_calls(8, 2, 0.5);
  policy.min = 1;
  policy.max = 4;
  Controlled run(6, policy);
  std::vector<Probe::Seen> seen;
  run.config.more_controllers = {[&] { return std::make_unique<Probe>(0.25, seen); }};
  System system(run.config, plain_policy(), serving::LeastTokens(), plain_seconds);
  std::vector<workloads::Program> programs;
  std::uint64_t id = 0;
  // A call takes 0.01 + 0.02 s and 99 steps: 20 a second keep some 20 to 30 open, 1 a second some 1.
  const auto arrive = [&](double from, double to, double rate) {
    for (double at = from; at < to; at += 1 / rate) programs.push_back(call(at, prompt(++id, 200), 100));
  };
  arrive(0, 30, 1);
  arrive(30, 60, 20);
  arrive(60, 100, 1);
  system.run(programs);
  const auto running = [&](double from, double to) {
    std::int64_t least = 100, most = 0;
    for (const Probe::Seen& s : seen)
      if (s.at >= from && s.at < to) least = std::min(least, s.running), most = std::max(most, s.running);
    return std::pair{least, most};
  };
  CHECK(running(1, 30) == std::pair<std::int64_t, std::int64_t>(1, 1));
  CHECK(running(45, 60).first >= 3);
  CHECK(running(0, 100).second == 4);
  CHECK(running(70, 100) == std::pair<std::int64_t, std::int64_t>(1, 1));
  for (const auto& answer : system.answers) CHECK(answer.outcome == Outcome::completed);
}

TEST_CASE("an autoscaler by SLO starts replicas while calls miss it, and waits out its cooldown") {
  Autoscale policy = by_calls(0.2, 0.05, 1);
  policy.by = Autoscale::By::slo;
  policy.ttft = Seconds(0.5);
  policy.window = Seconds(5);
  policy.up_cooldown = Seconds(3);
  policy.down_cooldown = Seconds(100);
  Controlled run(4, policy);
  System system(run.config, plain_policy(), serving::LeastTokens(), plain_seconds);
  std::vector<workloads::Program> programs;
  // 15 prompts of 0.11 s a second: one replica answers 9 of them, two answer them all.
  for (int i = 0; i < 600; ++i) programs.push_back(call(i / 15.0, prompt(static_cast<std::uint64_t>(i) + 1, 1000), 1));
  system.run(programs);
  CHECK(system.gateway().fleet().provisioned(1).time(system.end) > Seconds(20));
  std::int64_t late = 0;
  for (const auto& answer : system.answers)
    if (answer.request.arrival > Seconds(25) && answer.request.first_token - answer.request.arrival > Seconds(0.5))
      ++late;
  CHECK(late == 0);
  const serving::PoolHistory history = system.gateway().fleet().history(0, system.end);
  CHECK(history.starts <= 1 + static_cast<std::int64_t>(system.end.si() / 3));
}

TEST_CASE("replicas that were converted decode where the load has moved to, and every call is answered") {
  for (const bool by_load : {false, true}) {
    CAPTURE(by_load);
    const std::vector<Role> roles = {Role::prefill, Role::prefill, Role::prefill, Role::decode};
    serving::Convert at_a_time;
    at_a_time.at = Seconds(1);
    at_a_time.from = "pool 0";
    at_a_time.to = "pool 1";
    at_a_time.count = 2;
    at_a_time.takes = Seconds(0.5);
    serving::Balance balance;
    balance.between = {{"pool 0", 30, 1}, {"pool 1", 20, 1}};
    balance.interval = Seconds(0.5);
    balance.takes = Seconds(0.5);
    const serving::ControllerPolicy& policy = by_load ? static_cast<const serving::ControllerPolicy&>(balance)
                                                      : static_cast<const serving::ControllerPolicy&>(at_a_time);
    Controlled run(4, policy, roles);
    System system(run.config, plain_policy(), serving::LeastTokens(), plain_seconds);
    std::vector<workloads::Program> programs;
    for (int i = 0; i < 400; ++i)  // short prompts, long answers: 40 x 2 s of decoding at a time
      programs.push_back(call(i / 40.0, prompt(static_cast<std::uint64_t>(i) + 1, 50), 200));
    system.run(programs);
    std::int64_t by_converted = 0, emitted = 0;
    for (const auto& answer : system.answers) {
      CHECK(answer.outcome == Outcome::completed);
      CHECK(answer.request.attempt == 0);
      by_converted += answer.request.replica < 3 ? 1 : 0;
      emitted += answer.request.emitted;
    }
    CHECK(system.answers.size() == 400);
    CHECK(emitted == 400 * 200);
    CHECK(by_converted > 100);
    CHECK(system.gateway().fleet().history(0, system.end).conversions == 2);
    CHECK(system.gateway().fleet().load(0).serving == 1);
    CHECK(system.gateway().fleet().load(1).serving == 3);
    CHECK(system.gateway().fleet().provisioned(1).time(system.end) == system.end);  // it is never switched off
  }
}

TEST_CASE("a replica under maintenance answers what it has, is down, and serves after a cold start") {
  serving::Drain policy;
  policy.at = Seconds(0.05);
  policy.lasts = Seconds(3);
  policy.group = "group";
  Controlled run(1, policy);
  System system(run.config, plain_policy(), serving::LeastTokens(), plain_seconds);
  system.run({call(0, prompt(1, 1000), 10), call(1, prompt(2, 1000), 1)});
  CHECK(system.answers[0].request.last_token.si() == approx(kPrefill + 9 * kStep));
  CHECK(system.answers[1].request.first_token.si() == approx(0.05 + 3 + kColdStart + kPrefill));
  CHECK(system.gateway().fleet().provisioned(0).time(system.end) == system.end);  // the machine stays
}

TEST_CASE("an autoscaler starts no replica that is broken, and calls wait until it is whole") {
  Autoscale policy = by_calls(4, 0.5, 1);
  policy.min = 0;
  Controlled run(1, policy);
  run.config.more_controllers = {[&] {
    return std::make_unique<serving::FaultInjector>(std::vector<serving::Fault>{{Seconds(0.5), Seconds(10), {0}}},
                                                    std::vector<serving::FailingDevice>(), run.plan);
  }};
  System system(run.config, plain_policy(), serving::LeastTokens(), plain_seconds);
  system.run({call(1, prompt(1, 1000), 1)});
  // Whole at 10.5 s, when the autoscaler had no reason to look before 11 s.
  CHECK(system.answers[0].request.first_token.si() == approx(11 + kColdStart + kPrefill));
}

TEST_CASE("a fault that nobody repairs fails the calls that wait, though a controller goes on looking") {
  Autoscale policy = by_calls(4, 0.5, 1);
  Controlled run(1, policy);
  run.config.more_controllers = {[&] {
    return std::make_unique<serving::FaultInjector>(std::vector<serving::Fault>{{Seconds(0.05), serving::kNever, {0}}},
                                                    std::vector<serving::FailingDevice>(), run.plan);
  }};
  System system(run.config, plain_policy(), serving::LeastTokens(), plain_seconds);
  system.run({call(0, prompt(1, 1000), 1), call(1, prompt(2, 1000), 1)});
  for (const auto& answer : system.answers) {
    CHECK(answer.outcome == Outcome::failed);
    CHECK(answer.request.reason == serving::Reason::no_replica);
  }
}

TEST_CASE("two faults at a time are two repairs; a replica serves when the last is done") {
  serving::Drain never;  // a controller is needed to run, and does nothing in time
  never.at = Seconds(1e6);
  never.lasts = Seconds(1);
  never.group = "group";
  Controlled run(1, never);
  run.config.more_controllers = {[&] {
    return std::make_unique<serving::FaultInjector>(
        std::vector<serving::Fault>{{Seconds(1), Seconds(5), {0}}, {Seconds(3), Seconds(1), {0}}},
        std::vector<serving::FailingDevice>(), run.plan);
  }};
  System system(run.config, plain_policy(), serving::LeastTokens(), plain_seconds);
  system.run({call(4.5, prompt(1, 1000), 1)});
  CHECK(system.answers[0].request.first_token.si() == approx(6 + kColdStart + kPrefill));
  CHECK(system.gateway().fleet().history(0, system.end).losses == 1);  // the second found it down
  CHECK(system.gateway().fleet().history(0, system.end).starts == 1);
}

TEST_CASE("devices that break at random do so as often as their MTBF says, and are away for their MTTR") {
  constexpr std::size_t kDevices = 50;
  constexpr double kMtbf = 1000, kMttr = 100, kEnd = 100'000;
  FleetPlan plan = plan_of(kDevices);
  for (auto& replica : plan.replicas) replica.cold_start = Seconds();
  std::vector<serving::FailingDevice> devices;
  const RandomStreams streams(7);
  for (std::size_t i = 0; i < kDevices; ++i)
    devices.push_back({Seconds(kMtbf), Seconds(kMttr), streams.stream("device", i), {i}});
  SystemConfig config;
  config.replicas = kDevices;
  config.controller = [&] {
    return std::make_unique<serving::FaultInjector>(std::vector<serving::Fault>(), devices, plan);
  };
  System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
  system.run({call(kEnd, prompt(1, 10), 1)});
  const serving::PoolHistory history = system.gateway().fleet().history(0, system.end);
  // Renewals of a mean of mtbf + mttr: their number has a variance of n (mtbf^2 + mttr^2) / (mtbf + mttr)^2.
  const double expected = kDevices * kEnd / (kMtbf + kMttr);
  const double deviation = std::sqrt(expected * (kMtbf * kMtbf + kMttr * kMttr)) / (kMtbf + kMttr);
  CHECK(std::abs(static_cast<double>(history.losses) - expected) < 4 * deviation);
  CHECK(static_cast<double>(history.losses) != expected);
  // The share that is down has a relative deviation of sqrt(2 / n): 0.021.
  CHECK(1 - history.available() == approx(kMttr / (kMtbf + kMttr)).epsilon(0.08));
}

TEST_CASE(
    "a threshold that follows the queues uses both pools where one is too slow, and stays where it may not move") {
  // Prompts of 1,000 tokens: 0.11 s each, so one replica answers 9 of the 15 that come a second, and two all of them.
  const auto outcome = [](double factor) {
    serving::Threshold threshold;
    threshold.shorter = "pool 0";
    threshold.longer = "pool 2";
    threshold.usual = threshold.max = 4000;  // all at home
    threshold.min = 100;
    threshold.step = factor;
    threshold.interval = Seconds(0.5);
    Controlled run(3, threshold, {Role::prefill, Role::decode, Role::prefill});
    System system(run.config, plain_policy(), serving::LeastTokens(), plain_seconds);
    std::vector<workloads::Program> programs;
    for (int i = 0; i < 300; ++i)
      programs.push_back(call(i / 15.0, prompt(static_cast<std::uint64_t>(i) + 1, 1000), 2));
    system.run(programs);
    std::int64_t elsewhere = 0;
    for (const auto& step : system.steps) elsewhere += step.replica == 2 ? step.prefill_tokens : 0;
    CHECK(system.answers.size() == 300);
    return std::pair(elsewhere / 1000, system.end.si());
  };
  const auto [none, alone] = outcome(1);
  CHECK(none == 0);
  CHECK(alone > 300 * 1000 * testing::kPerPromptToken);  // steps of several prompts save the fixed part
  const auto [some, both] = outcome(2);                  // from three calls more on
  CHECK(some > 75);
  CHECK(some < 225);
  CHECK(both < 0.75 * alone);  // the last call comes after 20 s
}

}  // namespace controllers_test
