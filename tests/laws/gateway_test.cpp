// SPDX-License-Identifier: Apache-2.0
// The gateway where replicas are unlike, where none serves, and where calls are refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>

#include "sim/serving/routers/least_tokens.hpp"
#include "sim/serving/routers/prefix_affinity.hpp"
#include "sim/serving/routers/round_robin.hpp"
#include "sim/serving/routers/vllm_data_parallel.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/plain_engine.hpp"

namespace gateway_test {

using namespace llmscape;
using llmscape::testing::approx;
using serving::Fleet;
using serving::Outcome;
using testing::call;
using testing::kPrefill;
using testing::kStep;
using testing::plain_policy;
using testing::plain_seconds;
using testing::prompt;
using testing::script;
using testing::System;
using testing::SystemConfig;

namespace {

// The replicas of the calls, by arrival.
std::vector<int> replicas_of(const SystemConfig& config, const serving::RouterPolicy& router,
                             const std::vector<workloads::Program>& programs) {
  System system(config, plain_policy(), router, plain_seconds);
  system.run(programs);
  std::ranges::sort(system.answers, {}, [](const testing::Answer& a) { return a.request.id; });
  std::vector<int> chosen;
  for (const testing::Answer& answer : system.answers) chosen.push_back(answer.request.replica);
  return chosen;
}

}  // namespace

// Two replicas of 16,000 tokens and a third of 640: calls of 1,000 go to the two as if it were not there, and wait in
// no queue of one while the other idles.
TEST_CASE("calls that not all replicas of a pool can hold are shared out among those that can") {
  std::vector<workloads::Program> longs, mixed;
  for (int i = 0; i < 6; ++i) longs.push_back(call(0.001 * i, prompt(static_cast<ContentId>(i + 1), 1000), 5));
  for (int i = 0; i < 6; ++i)
    mixed.push_back(call(0.001 * i, prompt(static_cast<ContentId>(i + 1), i % 2 == 0 ? 100 : 1000), 5));
  SystemConfig two, three;
  two.replicas = 2;
  three.replicas = 3;
  three.kv_blocks_of = {1000, 1000, 40};
  const serving::LeastTokens by_tokens;
  const serving::RoundRobin in_turn;
  const serving::PrefixAffinity by_prefix;
  const serving::VllmDataParallel by_score;
  for (const serving::RouterPolicy* router :
       std::initializer_list<const serving::RouterPolicy*>{&by_tokens, &in_turn, &by_prefix, &by_score}) {
    const std::vector<int> chosen = replicas_of(three, *router, longs);
    CHECK(chosen == replicas_of(two, *router, longs));
    CHECK(std::ranges::count(chosen, 0) == 3);
    CHECK(std::ranges::count(chosen, 1) == 3);
  }
  // In turn, each the next one that holds it: 100 tokens anywhere, 1,000 on the first two.
  CHECK(replicas_of(three, serving::RoundRobin(), mixed) == std::vector<int>{0, 1, 2, 0, 1, 0});
  // Placed by load, the pool is as full as those of its replicas that can take the call.
  three.gateway.placement = serving::Placement::least_loaded;
  CHECK(replicas_of(three, serving::LeastTokens(), longs) == std::vector<int>{0, 1, 0, 1, 0, 1});
}

TEST_CASE("in turn goes on behind the last replica, whichever serve") {
  SystemConfig config;
  config.replicas = 4;
  config.controller = script({{0.25, [](Fleet& fleet, Seconds now) { fleet.drain(0, now); }}});
  std::vector<workloads::Program> programs;
  for (int i = 0; i < 7; ++i) programs.push_back(call(0.1 * i, prompt(static_cast<ContentId>(i + 1), 100), 1));
  CHECK(replicas_of(config, serving::RoundRobin(), programs) == std::vector<int>{0, 1, 2, 3, 1, 2, 3});
}

// One at a replica, two wait: of calls that come while the only replica is away, the third and fourth are told at once.
TEST_CASE("a queue that is limited is so while no replica serves, and drops nobody who waits in it") {
  SystemConfig config;
  config.gateway.admission.max_outstanding = 1;
  config.gateway.admission.max_waiting = 2;
  config.controller = script({{0.0, [](Fleet& fleet, Seconds now) { fleet.drain(0, now); }},
                              {1.0, [](Fleet& fleet, Seconds now) { fleet.start(0, now + Seconds(0.5), now); }}});
  System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
  std::vector<workloads::Program> programs;
  for (int i = 0; i < 4; ++i) programs.push_back(call(0.1 + 0.1 * i, prompt(static_cast<ContentId>(i + 1)), 1));
  system.run(programs);
  REQUIRE(system.answers.size() == 4);
  CHECK(system.answers[0].at.si() == approx(0.3));
  CHECK(system.answers[1].at.si() == approx(0.4));
  for (const int i : {0, 1}) {
    CHECK(system.answers[i].outcome == Outcome::dropped);
    CHECK(system.answers[i].request.reason == serving::Reason::queue_full);
  }
  CHECK(system.answers[2].at.si() == approx(1.5 + kPrefill));
  CHECK(system.answers[3].at.si() == approx(1.5 + 2 * kPrefill));
}

// Three wait for a replica. When one serves, the first runs, and the two move on to wait for admission: none of them is
// dropped, and one more may wait.
TEST_CASE("those that wait for a replica and those that wait for admission have one limit") {
  SystemConfig config;
  config.replicas = 2;
  config.gateway.admission.max_outstanding = 1;
  config.gateway.admission.max_waiting = 3;
  config.controller = script({{0.0, [](Fleet& fleet, Seconds now) { fleet.drain(0, now); }},
                              {0.0, [](Fleet& fleet, Seconds now) { fleet.drain(1, now); }},
                              {1.0, [](Fleet& fleet, Seconds now) { fleet.start(1, now, now); }},
                              {9.0, [](Fleet& fleet, Seconds now) { fleet.start(0, now, now); }}});
  System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
  std::vector<workloads::Program> programs;
  for (int i = 0; i < 3; ++i) programs.push_back(call(0.1 + 0.1 * i, prompt(static_cast<ContentId>(i + 1)), 100));
  for (int i = 0; i < 4; ++i) programs.push_back(call(1.1 + 0.01 * i, prompt(static_cast<ContentId>(i + 9)), 1));
  system.run(programs);
  int dropped = 0;
  for (const testing::Answer& answer : system.answers)
    if (answer.outcome == Outcome::dropped) {
      ++dropped;
      CHECK(answer.at.si() == approx(answer.request.arrival.si()));
    }
  CHECK(dropped == 3);  // one runs, two of the first and one of the others wait
}

TEST_CASE("controllers see the calls that wait for admission") {
  SystemConfig config;
  config.gateway.admission.max_outstanding = 1;
  serving::PoolLoad load;
  config.controller = script({{0.05, [&load](Fleet& fleet, Seconds) { load = fleet.load(0); }}});
  System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
  std::vector<workloads::Program> programs;
  for (int i = 0; i < 4; ++i) programs.push_back(call(0.001 * i, prompt(static_cast<ContentId>(i + 1)), 1));
  system.run(programs);
  CHECK(load.requests == 1);
  CHECK(load.waiting == 3);
}

// The third call is kept where the first one was. Both go to a replica of their own, in the order in which they came.
TEST_CASE("calls of a lost replica are tried again in the order of their arrival") {
  SystemConfig config;
  config.replicas = 3;
  config.shape_pools = [](std::vector<serving::Pool>& pools) { pools[0].off = 2; };
  config.controller = script({{0.5,
                               [](Fleet& fleet, Seconds now) {
                                 fleet.start(1, now, now);
                                 fleet.start(2, now, now);
                               }},
                              {0.6, [](Fleet& fleet, Seconds now) { fleet.lose(0, true, now); }}});
  const std::vector<workloads::Program> programs = {call(0, prompt(1), 1), call(0.01, prompt(2), 100),
                                                    call(0.4, prompt(3), 100)};
  const std::vector<int> chosen = replicas_of(config, serving::LeastTokens(), programs);
  CHECK(chosen == std::vector<int>{0, 1, 2});
}

// The tokens of an attempt that was lost came from its first one on, not while the call waited for a replica.
TEST_CASE("tokens of a call that is tried again are spread from the first that its user saw") {
  SystemConfig config;
  config.replicas = 2;
  config.controller = script({{kPrefill + 2.5 * kStep, [](Fleet& fleet, Seconds now) { fleet.lose(0, true, now); }}});
  System system(config, plain_policy(), serving::RoundRobin(), plain_seconds);
  system.run({call(0, prompt(1, 1000), 10)});
  const serving::Request& request = system.answers[0].request;
  CHECK(request.lost == 3);
  CHECK(request.lost_from(request.last_token).si() == approx(kPrefill));
  CHECK(request.lost_from(Seconds(kPrefill / 2)) == request.arrival);
  CHECK(request.answered_from(request.last_token) == request.first_token);  // those of its answer
}

}  // namespace gateway_test
