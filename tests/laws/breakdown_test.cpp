// SPDX-License-Identifier: Apache-2.0
// Where the time of calls and programs goes, phase by phase (INV-17; every call of every System is checked for sums).
#include <doctest/doctest.h>

#include <map>

#include "sim/serving/routers/round_robin.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/plain_engine.hpp"

namespace breakdown_test {

using namespace llmscape;
using llmscape::testing::approx;
using serving::RequestPhase;
using serving::TaskPhase;
using testing::call;
using testing::kPrefill;
using testing::kStep;
using testing::plain_policy;
using testing::plain_seconds;
using testing::prompt;
using testing::Script;
using testing::System;
using testing::SystemConfig;
using workloads::Program;
using workloads::Stage;

namespace {

using Phases = std::map<RequestPhase, double>;

// The call spent these seconds in these phases, and none in others.
void check(const serving::Request& request, const Phases& seconds) {
  for (std::size_t i = 0; i < serving::kRequestPhases; ++i) {
    CAPTURE(serving::kRequestPhaseNames[i]);
    const auto found = seconds.find(static_cast<RequestPhase>(i));
    CHECK(request.clock.spent()[i].si() == approx(found == seconds.end() ? 0 : found->second).epsilon(1e-9));
  }
}

}  // namespace

TEST_CASE("alone, a call is computed and decoded, and waits for nothing") {
  System system(SystemConfig{}, plain_policy(), serving::RoundRobin(), plain_seconds);
  system.run({call(0, prompt(1), 5)});
  check(system.answers[0].request, {{RequestPhase::prefill, kPrefill}, {RequestPhase::decode, 4 * kStep}});
}

TEST_CASE("a call that comes while a step runs waits for its end") {
  System system(SystemConfig{}, plain_policy(), serving::RoundRobin(), plain_seconds);
  system.run({call(0, prompt(1), 1), call(0.05, prompt(2), 3)});
  check(
      system.answers[1].request,
      {{RequestPhase::queued, kPrefill - 0.05}, {RequestPhase::prefill, kPrefill}, {RequestPhase::decode, 2 * kStep}});
}

TEST_CASE("the front end reads one call after the other, and the gateway holds what may not be sent yet") {
  SystemConfig config;
  config.gateway.front_end.per_call = Seconds(0.02);
  config.gateway.admission.max_outstanding = 1;
  System system(config, plain_policy(), serving::RoundRobin(), plain_seconds);
  system.run({call(0, prompt(1), 1), call(0, prompt(2), 1)});
  check(system.answers[0].request, {{RequestPhase::front_end, 0.02}, {RequestPhase::prefill, kPrefill}});
  check(system.answers[1].request,
        {{RequestPhase::front_end, 0.04}, {RequestPhase::held, kPrefill - 0.02}, {RequestPhase::prefill, kPrefill}});
}

TEST_CASE("between two pools a call waits for its KV entries") {
  SystemConfig config;
  config.replicas = 2;
  config.roles = {serving::Role::prefill, serving::Role::decode};
  config.gateway.move_by_layer = false;
  config.link_bandwidth = 2e6;  // half a second
  System system(config, plain_policy(), serving::RoundRobin(), plain_seconds);
  system.run({call(0, prompt(1), 5)});
  check(system.answers[0].request,
        {{RequestPhase::prefill, kPrefill}, {RequestPhase::transfer, 0.5}, {RequestPhase::decode, 4 * kStep}});
}

TEST_CASE("what a call did at a replica that was lost was in vain") {
  SystemConfig config;
  config.replicas = 2;
  const double lost = kPrefill + 2.5 * kStep;
  config.controller = [lost] {
    return std::make_unique<Script>(
        std::vector<Script::Act>{{lost, [](serving::Fleet& fleet, Seconds now) { fleet.lose(0, true, now); }}});
  };
  System system(config, plain_policy(), serving::RoundRobin(), plain_seconds);
  system.run({call(0, prompt(1), 10)});
  check(system.answers[0].request,
        {{RequestPhase::lost, lost}, {RequestPhase::prefill, kPrefill}, {RequestPhase::decode, 9 * kStep}});
}

TEST_CASE("a call that gives way waits and is computed again, which is not counted as waiting for its first token") {
  SystemConfig config;
  config.kv_blocks = 130;  // two prompts of 63 blocks, and not much of their answers
  System system(config, plain_policy(), serving::RoundRobin(), plain_seconds);
  system.run({call(0, prompt(1), 200), call(0, prompt(2), 200)});
  const serving::Request& request = system.answers[1].request;
  REQUIRE(request.preemptions == 1);
  const auto spent = [&request](RequestPhase phase) { return request.clock.spent()[static_cast<std::size_t>(phase)]; };
  CHECK(spent(RequestPhase::queued) == Seconds());
  CHECK(spent(RequestPhase::prefill) == request.first_token);
  // It gives way after some tokens, and comes back when the other one has answered all of its own.
  const serving::Request& other = system.answers[0].request;
  const Seconds resumed = request.first_token + spent(RequestPhase::preempted);
  CHECK(resumed < other.last_token);
  CHECK(spent(RequestPhase::preempted) > 0.5 * (other.last_token - other.first_token));
  // Its prompt and the tokens that it had answered, in one step.
  const double before = (spent(RequestPhase::recompute).si() - kPrefill) / testing::kPerPromptToken;
  CHECK(before > 1);
  CHECK(before < 200);
}

TEST_CASE("the time of a task is that of its calls, retrieval, tools and pauses; what runs at once counts once") {
  Program program;
  program.stages.resize(5);
  program.stages[0].kind = Stage::Kind::pause;
  program.stages[0].delay = Seconds(1);
  program.stages[1].kind = Stage::Kind::retrieval;
  program.stages[1].service = Seconds(0.5);
  program.stages[1].after = {0};
  program.stages[2].prompt = prompt(1);
  program.stages[2].after = {1};
  program.stages[3].kind = Stage::Kind::tool;  // beside the call, and longer
  program.stages[3].service = Seconds(2);
  program.stages[3].after = {1};
  program.stages[4].prompt = prompt(2);
  program.stages[4].after = {2, 3};
  program.stages[4].delay = Seconds(0.25);
  System system(SystemConfig{}, plain_policy(), serving::RoundRobin(), plain_seconds);
  system.run({program});
  REQUIRE(system.tasks.size() == 1);
  const auto spent = [&system](TaskPhase phase) {
    return system.tasks[0].spent()[static_cast<std::size_t>(phase)].si();
  };
  CHECK(spent(TaskPhase::pauses) == approx(1.25));
  CHECK(spent(TaskPhase::retrieval) == approx(0.5));
  CHECK(spent(TaskPhase::model_calls) == approx(2 * kPrefill));
  CHECK(spent(TaskPhase::tools) == approx(2 - kPrefill));
}

}  // namespace breakdown_test
