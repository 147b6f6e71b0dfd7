// SPDX-License-Identifier: Apache-2.0
// Replicas that come, go, change their pool and are lost while they serve; pools of several models.
#include <doctest/doctest.h>

#include "base/random.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "sim/serving/routers/round_robin.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/plain_engine.hpp"

namespace fleet_test {

using namespace llmscape;
using llmscape::testing::approx;
using serving::Availability;
using serving::Fleet;
using serving::Outcome;
using serving::Pool;
using serving::Reason;
using serving::Role;
using testing::call;
using testing::kPrefill;
using testing::kStep;
using testing::plain_policy;
using testing::plain_seconds;
using testing::prompt;
using testing::script;
using testing::System;
using testing::SystemConfig;

TEST_CASE("a call whose replica is lost is tried again on another one, from its prompt") {
  SystemConfig config;
  config.replicas = 2;
  config.controller = script({{kPrefill + 2.5 * kStep, [](Fleet& fleet, Seconds now) { fleet.lose(0, true, now); }}});
  System system(config, plain_policy(), serving::RoundRobin(), plain_seconds);
  system.run({call(0, prompt(1, 1000), 10)});
  REQUIRE(system.answers.size() == 1);
  const serving::Request& request = system.answers[0].request;
  CHECK(system.answers[0].outcome == Outcome::completed);
  CHECK(request.attempt == 1);
  CHECK(request.lost == 3);  // the first and two more; the one that was on its way nobody had
  CHECK(request.emitted == 10);
  CHECK(request.first_token.si() == approx(2 * kPrefill + 2.5 * kStep));
  CHECK(request.last_token.si() == approx(2 * kPrefill + 2.5 * kStep + 9 * kStep));
  CHECK(system.gateway().fleet().provisioned(0).time(system.end).si() == approx(kPrefill + 2.5 * kStep));
  CHECK(system.gateway().fleet().provisioned(1).time(system.end) == system.end);
}

TEST_CASE("what ends at the instant of a loss is answered") {
  SystemConfig config;
  config.replicas = 2;
  config.controller = script({{kPrefill + 2 * kStep, [](Fleet& fleet, Seconds now) { fleet.lose(0, true, now); }}});
  System system(config, plain_policy(), serving::RoundRobin(), plain_seconds);
  system.run({call(0, prompt(1, 1000), 3)});
  CHECK(system.answers[0].outcome == Outcome::completed);
  CHECK(system.answers[0].request.attempt == 0);
}

TEST_CASE("a call fails when its replicas are lost more often than it is sent again, or for good") {
  for (const bool for_good : {false, true}) {
    CAPTURE(for_good);
    SystemConfig config;
    config.gateway.retries = for_good ? 3 : 1;
    const auto lose = [for_good](Fleet& fleet, Seconds now) {
      fleet.lose(0, for_good, now);
      if (!for_good) fleet.repair(0, Seconds(0.01), now);
    };
    config.controller = for_good ? script({{0.05, lose}}) : script({{0.05, lose}, {0.1, lose}});
    System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
    system.run({call(0, prompt(1, 1000), 10)});
    CHECK(system.answers[0].outcome == Outcome::failed);
    CHECK(system.answers[0].request.reason == (for_good ? Reason::no_replica : Reason::replica_lost));
    CHECK(system.answers[0].at.si() == approx(for_good ? 0.05 : 0.1));
  }
}

TEST_CASE("calls wait for a replica that comes back, and are dropped where none takes them") {
  SystemConfig config;
  config.controller = script({{0.0, [](Fleet& fleet, Seconds now) { fleet.drain(0, now); }},
                              {1.0, [](Fleet& fleet, Seconds now) { fleet.start(0, now + Seconds(0.5), now); }}});
  config.shape_pools = [](std::vector<Pool>& pools) { pools[0].accepts.up_to = 2000; };
  System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
  system.run({call(0.1, prompt(1, 1000), 1), call(0.2, prompt(2, 2001), 1)});
  CHECK(system.answers[0].outcome == Outcome::dropped);
  CHECK(system.answers[0].request.reason == Reason::not_accepted);
  CHECK(system.answers[1].outcome == Outcome::completed);
  CHECK(system.answers[1].request.first_token.si() == approx(1.5 + kPrefill));  // a cold start is waited for
  CHECK(system.gateway().fleet().provisioned(0).time(system.end).si() == approx(0.5 + kPrefill));
}

TEST_CASE("a replica that drains answers what it has and takes nothing new") {
  SystemConfig config;
  config.replicas = 2;
  config.controller = script({{0.05, [](Fleet& fleet, Seconds now) { fleet.drain(0, now); }}});
  System system(config, plain_policy(), serving::RoundRobin(), plain_seconds);
  system.run({call(0, prompt(1, 1000), 10), call(0.06, prompt(2, 10), 1), call(0.07, prompt(3, 10), 1)});
  for (const auto& answer : system.answers) {
    CHECK(answer.outcome == Outcome::completed);
    CHECK(answer.request.replica == (answer.request.id == 0 ? 0 : 1));
  }
  CHECK(system.gateway().fleet().availability(0) == Availability::off);
  CHECK(system.gateway().fleet().provisioned(0).time(system.end).si() == approx(kPrefill + 9 * kStep));
}

TEST_CASE("calls go to a pool that serves their model and takes prompts of their length") {
  SystemConfig config;
  config.replicas = 3;
  config.shape_pools = [](std::vector<Pool>& pools) {  // one pool of three replicas becomes three pools
    const std::vector<serving::Replica*> all = pools[0].replicas;
    pools[0].replicas = {all[0]};
    pools[0].accepts.up_to = 500;
    for (std::size_t i = 1; i < 3; ++i) {
      Pool& pool = pools.emplace_back();
      pool.router = serving::LeastTokens().make();
      pool.replicas = {all[i]};
    }
    pools[1].accepts.longer_than = 500;
    pools[2].model = 1;
  };
  System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
  auto of_other_model = call(0, prompt(4, 100), 1);
  of_other_model.stages[0].model = 1;
  auto of_no_model = call(0, prompt(5, 100), 1);
  of_no_model.stages[0].model = 2;
  system.run({call(0, prompt(1, 500), 1), call(0, prompt(2, 501), 1), of_other_model, of_no_model});
  REQUIRE(system.answers.size() == 4);
  for (const auto& answer : system.answers) {
    if (answer.request.model == 2) {
      CHECK(answer.request.reason == Reason::not_accepted);
    } else {
      CHECK(answer.outcome == Outcome::completed);
      CHECK(answer.request.replica == static_cast<int>(answer.request.id));
    }
  }
}

TEST_CASE("a decode replica that is lost while entries come to it is replaced by another one") {
  for (const double at : {kPrefill + 0.1, kPrefill + 0.505}) {  // while they move; while it decodes
    SystemConfig config;
    config.replicas = 3;
    config.roles = {Role::prefill, Role::decode, Role::decode};
    config.gateway.move_by_layer = false;
    config.link_bandwidth = 2e6;  // half a second for 1,000 tokens
    config.controller = script({{at, [](Fleet& fleet, Seconds now) { fleet.lose(1, true, now); }}});
    System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
    system.run({call(0, prompt(1, 1000), 5)});
    const auto& answer = system.answers[0];
    CHECK(answer.outcome == Outcome::completed);
    CHECK(answer.request.replica == 2);
    const bool moving = at < kPrefill + 0.5;
    CHECK(answer.request.attempt == (moving ? 0 : 1));
    // The entries move again from where the prompt was computed, those for the lost replica no more; or all begins
    // again.
    CHECK(answer.request.last_token.si() == approx(at + (moving ? 0 : kPrefill) + 0.5 + 4 * kStep).epsilon(1e-9));
  }
}

TEST_CASE("entries of a replica that is lost move no more, and leave the link to those that are computed again") {
  SystemConfig config;
  config.replicas = 3;
  config.roles = {Role::prefill, Role::prefill, Role::decode};
  config.gateway.move_by_layer = false;
  config.link_bandwidth = 2e6;
  const double at = kPrefill + 0.1;
  config.controller = script({{at, [](Fleet& fleet, Seconds now) { fleet.lose(0, true, now); }}});
  System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
  system.run({call(0, prompt(1, 1000), 5)});
  const auto& answer = system.answers[0];
  CHECK(answer.outcome == Outcome::completed);
  CHECK(answer.request.attempt == 1);
  CHECK(answer.request.last_token.si() == approx(at + kPrefill + 0.5 + 4 * kStep).epsilon(1e-9));
}

TEST_CASE("a replica changes its role when it has answered what it has") {
  SystemConfig config;
  config.replicas = 3;
  config.roles = {Role::prefill, Role::prefill, Role::decode};
  config.controller = script({{0.05, [](Fleet& fleet, Seconds now) { fleet.convert(1, 1, Seconds(0.2), now); }}});
  System system(config, plain_policy(), serving::RoundRobin(), plain_seconds);
  std::vector<workloads::Program> programs;
  for (int i = 0; i < 40; ++i) programs.push_back(call(0.02 * i, prompt(static_cast<std::uint64_t>(i) + 1, 200), 20));
  system.run(programs);
  std::int64_t by_converted = 0;
  for (const auto& answer : system.answers) {
    CHECK(answer.outcome == Outcome::completed);
    if (answer.request.replica == 1) ++by_converted;
  }
  CHECK(by_converted > 5);
  CHECK(system.gateway().fleet().pool_of(1) == 1);
  CHECK(system.gateway().fleet().load(0).serving == 1);
  CHECK(system.gateway().fleet().load(1).serving == 2);
}

}  // namespace fleet_test
