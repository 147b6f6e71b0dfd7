// SPDX-License-Identifier: Apache-2.0
// How TensorRT-LLM and SGLang schedule, and what a front end adds, derived by hand. Every step lasts a second.
#include <doctest/doctest.h>

#include "sim/serving/batchers/sglang.hpp"
#include "sim/serving/batchers/trtllm.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"
#include "sim/serving/routers/round_robin.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::approx;
using llmscape::testing::by_id;
using llmscape::testing::call;
using llmscape::testing::one_second;
using llmscape::testing::System;
using llmscape::testing::SystemConfig;

namespace {

TrtLlm trtllm() {
  TrtLlm policy;
  policy.overlap_scheduler = false;
  return policy;
}

SgLang sglang() {
  SgLang policy;
  policy.overlap_schedule = false;
  return policy;
}

}  // namespace

TEST_CASE("TensorRT-LLM takes prompts whole: one that does not fit beside the decodes starves until they end") {
  TrtLlm policy = trtllm();
  policy.max_num_tokens = 100;
  System system({}, policy, RoundRobin(), one_second);
  system.run({call(0, {{1, 20}}, 6), call(0.5, {{2, 100}}, 1), call(0.6, {{3, 10}}, 1)});
  CHECK(by_id(system)[0].last_token == Seconds(6));
  CHECK(by_id(system)[1].first_token == Seconds(7));  // 100 tokens and a decode are above the budget
  CHECK(by_id(system)[2].first_token == Seconds(8));  // first come, first served
}

TEST_CASE("TensorRT-LLM reserves the answer too, or preempts if it is told to use the pool") {
  SystemConfig config;
  config.kv_blocks = 4;  // of 16 tokens
  const std::vector<workloads::Program> programs = {call(0, {{1, 16}}, 32), call(0, {{2, 16}}, 32)};
  System reserved(config, trtllm(), RoundRobin(), one_second);
  reserved.run(programs);
  CHECK(by_id(reserved)[1].schedule == Seconds(32));
  CHECK(reserved.replica().state().counts.preemptions == 0);
  TrtLlm greedy = trtllm();
  greedy.capacity = TrtLlm::Capacity::max_utilization;
  System used(config, greedy, RoundRobin(), one_second);
  used.run(programs);
  CHECK(by_id(used)[1].schedule == Seconds(0));
  CHECK(used.replica().state().counts.preemptions > 0);
}

TEST_CASE("prompts wait for company while others decode, but no longer than they are told to") {
  TrtLlm policy = trtllm();
  policy.max_num_tokens = 100;
  policy.batch_wait_steps = 3;
  policy.batch_wait_share = 0.5;
  System alone({}, policy, RoundRobin(), one_second);
  alone.run({call(0, {{1, 10}}, 20), call(1.5, {{2, 30}}, 1)});
  CHECK(by_id(alone)[0].first_token == Seconds(1));  // nobody decodes: no wait
  CHECK(by_id(alone)[1].first_token == Seconds(6));  // the steps from 2, 3 and 4 go without it
  System company({}, policy, RoundRobin(), one_second);
  company.run({call(0, {{1, 10}}, 20), call(1.5, {{2, 30}}, 1), call(2.5, {{3, 30}}, 1)});
  CHECK(by_id(company)[1].first_token == Seconds(4));  // 60 tokens are more than half of 100
}

TEST_CASE("SGLang lets decodes pause while prompts are computed, in chunks") {
  SgLang policy = sglang();
  policy.chunked_prefill_size = 100;
  System system({}, policy, RoundRobin(), one_second);
  system.run({call(0, {{1, 20}}, 6), call(1.5, {{2, 250}}, 1)});
  CHECK(by_id(system)[1].first_token == Seconds(5));  // chunks of 100, 100 and 50 from 2 on
  CHECK(by_id(system)[0].last_token == Seconds(9));   // six steps of its own and three of the other's
}

TEST_CASE("SGLang expects a share of the answers that are still to come, and less of them the longer all goes well") {
  SystemConfig config;
  config.kv_blocks = 20;  // 320 tokens
  SgLang policy = sglang();
  policy.new_token_ratio = 1;
  policy.least_new_token_ratio = 0;
  policy.decay_steps = 100;
  System system(config, policy, RoundRobin(), one_second);
  system.run({call(0, {{1, 16}}, 201), call(0.5, {{2, 100}}, 20)});
  // After n decode steps there are 304 - 16 ceil(n / 16) tokens free, and (1 - n / 100)(200 - n) of them are spoken
  // for; the newcomer asks for 112 + 20. At n = 15 it is 288 - 157.25, at n = 16 288 - 154.56 = 133.44.
  CHECK(by_id(system)[1].schedule == Seconds(17));
  CHECK(system.replica().state().counts.preemptions == 0);
}

TEST_CASE("a front end takes calls one after the other before an engine sees them") {
  SystemConfig config;
  config.gateway.front_end = {Seconds(0.5), Seconds(0.01)};
  VllmV1 policy;
  policy.async_scheduling = false;
  System system(config, policy, RoundRobin(), one_second);
  system.run({call(0, {{1, 50}}, 1), call(0, {{2, 100}}, 1)});
  const auto requests = by_id(system);
  CHECK(requests.at(0).enqueue == Seconds(1));
  CHECK(requests.at(0).first_token == Seconds(2));
  CHECK(requests.at(1).arrival == Seconds(0));
  CHECK(requests.at(1).enqueue.si() == approx(2.5));  // 1 + 0.5 + 100 x 0.01; read at once: nothing runs
  CHECK(requests.at(1).first_token.si() == approx(3.5));
}

TEST_CASE("a call that is given up in the front end leaves at once and never reaches an engine") {
  SystemConfig config;
  config.gateway.front_end = {Seconds(10), Seconds(0)};
  config.gateway.timeout = Seconds(4);
  System system(config, VllmV1(), RoundRobin(), one_second);
  system.run({call(0, {{1, 50}}, 1)});
  REQUIRE(system.answers.size() == 1);
  CHECK(system.answers[0].outcome == Outcome::timed_out);
  CHECK(system.answers[0].at == Seconds(4));
  CHECK(system.steps.empty());
}
