// SPDX-License-Identifier: Apache-2.0
// What users see of the engine, derived by hand.
#include <doctest/doctest.h>

#include <map>

#include "sim/serving/batchers/layered.hpp"
#include "sim/serving/batchers/orca.hpp"
#include "sim/serving/batchers/sarathi.hpp"
#include "sim/serving/batchers/static_batch.hpp"
#include "sim/serving/batchers/vllm_v0.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "sim/serving/routers/prefix_affinity.hpp"
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

VllmV1 synchronous() {
  VllmV1 policy;
  policy.async_scheduling = false;
  return policy;
}

}  // namespace

TEST_CASE("a synchronous engine takes an arrival into its next step, an asynchronous one into the step after next") {
  const std::vector<workloads::Program> programs = {call(0, {{1, 10}}, 20), call(4.5, {{2, 10}}, 1)};
  System sync({}, synchronous(), RoundRobin(), one_second);
  sync.run(programs);
  CHECK(by_id(sync)[1].first_token == Seconds(6));  // waits for the step that ends at 5
  System async({}, VllmV1(), RoundRobin(), one_second);
  async.run(programs);
  CHECK(by_id(async)[1].schedule == Seconds(5));
  CHECK(by_id(async)[1].first_token == Seconds(7));  // the step from 5 to 6 was planned at 4
}

TEST_CASE("a prompt above the budget is cut into chunks, and its first token comes with the last chunk") {
  VllmV1 policy = synchronous();
  policy.max_num_batched_tokens = 256;
  System system({}, policy, RoundRobin(), one_second);
  system.run({call(0, {{1, 600}}, 3)});
  REQUIRE(system.steps.size() == 5);
  CHECK(system.steps[0].prefill_tokens == 256);
  CHECK(system.steps[2].prefill_tokens == 88);
  CHECK(by_id(system)[0].first_token == Seconds(3));
  CHECK(by_id(system)[0].last_token == Seconds(5));
}

TEST_CASE("decodes come before chunks in the budget, and running prompts before waiting ones") {
  VllmV1 policy = synchronous();
  policy.max_num_batched_tokens = 256;
  System system({}, policy, RoundRobin(), one_second);
  system.run({call(0, {{1, 100}}, 50), call(0.5, {{2, 300}}, 2), call(0.6, {{3, 100}}, 2)});
  // t = 1: one decode and 255 tokens of the second; t = 2: one decode, 45 left of the second, 100 of the third.
  CHECK(system.steps[1].decodes == 1);
  CHECK(system.steps[1].prefill_tokens == 255);
  CHECK(system.steps[2].prefill_tokens == 145);
}

TEST_CASE("when the pool is short the last admitted gives way, and computes its tokens again") {
  VllmV1 policy = synchronous();
  policy.enable_prefix_caching = false;
  SystemConfig config;
  config.kv_blocks = 8;  // 128 tokens
  System system(config, policy, RoundRobin(), one_second);
  system.run({call(0, {{1, 48}}, 40), call(0, {{2, 48}}, 40)});
  auto requests = by_id(system);
  CHECK(requests[0].preemptions == 0);
  CHECK(requests[1].preemptions == 1);
  // Both hold 4 blocks up to 64 tokens: after 17 tokens each the first takes the second's blocks. It has answered 17 by
  // then.
  CHECK(requests[1].prefilled == 48 + 48 + 17);
  CHECK(requests[1].last_token > requests[0].last_token);
}

TEST_CASE("with prefix caching a preempted request finds its whole blocks again, if nobody needed them") {
  SystemConfig config;
  config.kv_blocks = 9;
  System system(config, synchronous(), RoundRobin(), one_second);
  system.run({call(0, {{1, 48}}, 34), call(0, {{2, 48}}, 40)});
  auto requests = by_id(system);
  CHECK(requests[1].preemptions == 1);
  // It gave way with 64 tokens in 4 blocks and 17 answered. The first then grew to 81 tokens, 6 blocks, and took the
  // tail of those 4: 3 are found again, and the other 17 of 65 tokens are computed.
  CHECK(requests[1].reused == 48);
  CHECK(requests[1].prefilled == 48 + 17);
}

TEST_CASE("a shared prefix is computed once, even when both requests come in the same step") {
  System system({}, synchronous(), RoundRobin(), one_second);
  system.run({call(0, {{1, 160}, {2, 10}}, 1), call(0, {{1, 160}, {3, 10}}, 1)});
  CHECK(by_id(system)[0].prefilled == 170);
  CHECK(by_id(system)[1].prefilled == 10);
  CHECK(by_id(system)[1].reused == 160);
}

TEST_CASE("an answer is cached too: the next turn of a conversation computes what is new") {
  workloads::Program chat;
  chat.stages.resize(2);
  chat.stages[0].prompt = {{1, 64}};
  chat.stages[0].output_tokens = 33;
  chat.stages[0].output = 2;
  chat.stages[1].after = {0};
  chat.stages[1].prompt = {{1, 64}, {2, 33}, {3, 15}};
  System system({}, synchronous(), RoundRobin(), one_second);
  system.run({chat});
  // 64 + 32 tokens are in the cache (the last token of an answer is never computed): 6 blocks of 16.
  CHECK(by_id(system)[1].reused == 96);
  CHECK(by_id(system)[1].prefilled == 16);
}

TEST_CASE("vLLM 0.x runs prompts alone, and decodes wait") {
  System system({}, VllmV0(), RoundRobin(), one_second);
  system.run({call(0, {{1, 10}}, 4), call(1.5, {{2, 10}}, 2)});
  // 0-1 first prompt, 1-2 its second token, 2-3 second prompt alone, then both.
  CHECK(system.steps[2].decodes == 0);
  CHECK(system.steps[2].prefill_tokens == 10);
  CHECK(by_id(system)[0].last_token == Seconds(5));
}

TEST_CASE("Orca reserves whole lengths: a request that would fit for now has to wait") {
  SystemConfig config;
  config.kv_blocks = 10;
  System system(config, Orca(), RoundRobin(), one_second);
  system.run({call(0, {{1, 16}}, 80), call(0, {{2, 16}}, 80)});  // 6 blocks each
  auto requests = by_id(system);
  CHECK(requests[0].last_token == Seconds(80));
  CHECK(requests[1].schedule == Seconds(80));
}

TEST_CASE("SARATHI takes one chunk of one prompt beside the decodes, and keeps both to whole tiles") {
  Sarathi policy;
  policy.chunk_size = 256;
  policy.max_batch = 3;
  const std::vector<workloads::Program> programs = {call(0, {{1, 600}}, 20), call(0, {{2, 300}}, 20),
                                                    call(0, {{3, 100}}, 20), call(0, {{4, 100}}, 20)};
  System system({}, policy, RoundRobin(), one_second);
  system.run(programs);
  // Chunks of the first: 256, 256, 88; of the second beside it: 256, 44; the third alone, though 156 tokens are left.
  const std::vector<std::int64_t> chunks = {256, 256, 88, 256, 44, 100};
  for (std::size_t i = 0; i < chunks.size(); ++i) CHECK(system.steps[i].prefill_tokens == chunks[i]);
  CHECK(system.steps[4].decodes == 1);
  CHECK(system.steps[5].decodes == 2);
  CHECK(system.steps[6].decodes == 3);  // a fourth has no slot until the first ends, with the step from 21 to 22
  CHECK(system.steps[6].prefill_tokens == 0);
  CHECK(by_id(system)[0].last_token == Seconds(22));
  CHECK(by_id(system)[3].schedule == Seconds(22));

  policy.tile = 128;
  System whole_tiles({}, policy, RoundRobin(), one_second);
  whole_tiles.run(programs);
  CHECK(whole_tiles.steps[3].prefill_tokens == 255);  // beside one decode
  CHECK(whole_tiles.steps[4].prefill_tokens == 45);
}

TEST_CASE("layered prefill: a cohort passes a group of layers in a step, and those that wait come when it is through") {
  Layered policy;
  policy.async_scheduling = false;
  // A token of a prompt costs a millisecond in all layers, a decode ten.
  System system({}, policy, RoundRobin(), [](const models::Batch& batch) {
    return 1e-3 * static_cast<double>(batch.prefill_tokens()) + 1e-2 * static_cast<double>(batch.decodes);
  });
  system.run({call(0, {{1, 2000}}, 6), call(0.6, {{2, 500}}, 2), call(0.7, {{3, 600}}, 2)});
  // 2,000 tokens: 4 groups of half a second each; their blocks are taken at once, their tokens are there at the end.
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(system.steps[i].prefill_tokens == (i < 3 ? 0 : 2000));
    CHECK(system.steps[i].kv_used == 125);
    CHECK(system.steps[i].end.si() == approx(0.5 * static_cast<double>(i + 1)));
  }
  auto requests = by_id(system);
  CHECK(requests[0].first_token.si() == approx(2));
  // The other two then are a cohort of 1,100 tokens in 4 groups, 0.275 s each, beside one decode.
  CHECK(requests[1].schedule.si() == approx(2));
  CHECK(requests[2].schedule.si() == approx(2));
  for (std::size_t i = 4; i < 8; ++i) CHECK((system.steps[i].end - system.steps[i].start).si() == approx(0.275 + 0.01));
  CHECK(requests[2].first_token.si() == approx(2 + 4 * 0.285));
  CHECK(requests[0].last_token.si() == approx(2 + 4 * 0.285 + 0.03));
}

TEST_CASE("layered prefill: groups as in the authors' code and as in the paper, prompts cut at 8,192 tokens") {
  Layered policy;
  const std::map<std::int64_t, std::int64_t> of_code = {{1, 1},    {512, 1},  {513, 2},  {1024, 2},  {1025, 4},
                                                        {2048, 4}, {2049, 8}, {4096, 8}, {4097, 16}, {8192, 16}};
  for (const auto& [tokens, groups] : of_code) CHECK(policy.groups(tokens) == groups);
  policy.grouping = Layered::Grouping::proportional;
  policy.max_groups = 48;
  for (const auto& [tokens, groups] : std::map<std::int64_t, std::int64_t>{{1, 1}, {512, 1}, {513, 2}, {9194, 18}})
    CHECK(policy.groups(tokens) == groups);

  System system({}, Layered(), RoundRobin(), one_second);
  system.run({call(0, {{1, 9000}}, 1)});  // 16 steps for 8,192 tokens, 2 for the other 808
  REQUIRE(system.steps.size() == 18);
  CHECK(system.steps[15].prefill_tokens == 8192);
  CHECK(system.steps[17].prefill_tokens == 808);
}

TEST_CASE("layered prefill: when blocks lack a decode gives way, and the cohort goes on") {
  Layered policy;
  policy.async_scheduling = false;
  policy.tokens_per_group = 1;
  policy.max_groups = 64;
  SystemConfig config;
  config.kv_blocks = 11;
  System system(config, policy, RoundRobin(), one_second);
  system.run({call(0, {{1, 96}}, 40), call(0.5, {{2, 64}}, 5)});
  // From 64 on the first decodes, in 7 blocks, and the second's 4 are taken. 16 tokens later there is none left.
  auto requests = by_id(system);
  CHECK(requests[0].preemptions == 1);
  CHECK(requests[0].prefilled == 96 + 96 + 17);
  CHECK(requests[1].preemptions == 0);
  CHECK(requests[1].first_token == Seconds(128));
  CHECK(requests[1].last_token == Seconds(132));
}

TEST_CASE("a static batch pays for padding until its longest answer ends, and nobody joins") {
  System system({}, StaticBatch(), RoundRobin(),
                [&](const models::Batch& b) { return 1e-3 * static_cast<double>(b.tokens()); });
  system.run({call(0, {{1, 100}}, 2), call(0, {{2, 50}}, 5), call(0.1, {{3, 10}}, 1)});
  auto requests = by_id(system);
  CHECK(system.steps[0].prefill_tokens == 200);         // both padded to 100
  CHECK(requests[0].last_token.si() == approx(0.202));  // its answer streams ...
  CHECK(requests[1].last_token.si() == approx(0.208));  // ... but its slot decodes on: 4 steps of 2 sequences
  CHECK(requests[2].schedule.si() == approx(0.208));
}

TEST_CASE("an abandoned request stops at the next step and gives its slot and blocks back") {
  workloads::Program impatient = call(0, {{1, 32}}, 100);
  impatient.stages[0].give_up = Seconds(10.5);
  VllmV1 policy = synchronous();
  policy.max_num_seqs = 1;
  System system({}, policy, RoundRobin(), one_second);
  system.run({impatient, call(1, {{2, 32}}, 2)});
  REQUIRE(system.answers.size() == 2);
  CHECK(system.answers[0].outcome == Outcome::cancelled);
  CHECK(system.answers[0].at == Seconds(11));
  CHECK(system.answers[0].request.emitted == 11);
  CHECK(by_id(system)[1].schedule == Seconds(11));
}

TEST_CASE("a request that waits too long times out, in the engine's queue or in the gateway") {
  VllmV1 policy = synchronous();
  policy.max_num_seqs = 1;
  for (const bool in_gateway : {false, true}) {
    SystemConfig config;
    config.gateway.timeout = Seconds(5);
    if (in_gateway) config.gateway.admission.max_outstanding = 1;
    System system(config, policy, RoundRobin(), one_second);
    system.run({call(0, {{1, 32}}, 5), call(0, {{2, 32}}, 5)});
    CHECK(system.gateway().calls().counters().completed == 1);
    CHECK(system.gateway().calls().counters().timed_out == 1);
  }
}

// A step takes a second, and callers wait for 0.4 s: the answer of 1 s is too late, and the second call is made at 0.4
// s.
TEST_CASE("an answer that is complete after the deadline is nobody's, and its program went on at the deadline") {
  SystemConfig config;
  config.gateway.timeout = Seconds(0.4);
  System system(config, synchronous(), RoundRobin(), one_second);
  workloads::Program two = call(0, {{1, 32}}, 1);
  two.stages.push_back(two.stages[0]);
  two.stages[1].after = {0};
  system.run({two});
  CHECK(system.gateway().calls().counters().timed_out == 2);
  CHECK(system.gateway().calls().counters().completed == 0);
  CHECK(system.gateway().programs().counters().timed_out == 1);
  REQUIRE(system.answers.size() == 2);
  CHECK(system.answers[0].at == Seconds(1));  // when its replica is rid of it
  CHECK(by_id(system)[1].arrival == Seconds(0.4));
}

TEST_CASE("the gateway admits by priority and drops what its queue cannot hold") {
  SystemConfig config;
  config.gateway.admission.max_outstanding = 1;
  config.gateway.admission.max_waiting = 2;
  System system(config, synchronous(), RoundRobin(), one_second);
  system.run({call(0, {{1, 8}}, 3), call(0.1, {{2, 8}}, 1, 5), call(0.2, {{3, 8}}, 1, 0), call(0.3, {{4, 8}}, 1)});
  auto requests = by_id(system);
  CHECK(system.gateway().calls().counters().dropped == 1);
  CHECK(requests[2].last_token < requests[1].last_token);  // the more urgent one, although it came later
}

TEST_CASE("a request longer than the engine can ever hold is dropped at once") {
  SystemConfig config;
  config.kv_blocks = 4;
  System system(config, synchronous(), RoundRobin(), one_second);
  system.run({call(0, {{1, 60}}, 5), call(0, {{2, 60}}, 4)});
  CHECK(system.gateway().calls().counters().dropped == 1);
  CHECK(system.gateway().calls().counters().completed == 1);
}

TEST_CASE("round robin takes turns, least tokens avoids the busy one, affinity follows the prefix") {
  const std::vector<workloads::Program> programs = {call(0, {{1, 640}}, 100), call(0.1, {{2, 16}}, 1),
                                                    call(0.2, {{3, 16}}, 1), call(50, {{1, 640}, {4, 16}}, 1)};
  SystemConfig config;
  config.replicas = 2;
  const auto replicas_of = [&](const RouterPolicy& router) {
    System system(config, synchronous(), router, one_second);
    system.run(programs);
    std::vector<int> chosen;
    for (auto& [id, request] : by_id(system)) chosen.push_back(request.replica);
    return chosen;
  };
  CHECK(replicas_of(RoundRobin()) == std::vector<int>{0, 1, 0, 1});
  CHECK(replicas_of(LeastTokens()) == std::vector<int>{0, 1, 1, 1});
  CHECK(replicas_of(PrefixAffinity()) == std::vector<int>{0, 1, 1, 0});
}

TEST_CASE("stages wait for those before them; retrieval queues where servers are few") {
  workloads::Program rag;
  rag.stages.resize(2);
  rag.stages[0].kind = workloads::Stage::Kind::retrieval;
  rag.stages[0].service = Seconds(2);
  rag.stages[1].after = {0};
  rag.stages[1].prompt = {{1, 8}};
  SystemConfig config;
  config.gateway.retrieval_servers = 1;
  System system(config, synchronous(), RoundRobin(), one_second);
  workloads::Program second = rag;
  second.stages[1].prompt = {{2, 8}};
  system.run({rag, second});
  auto requests = by_id(system);
  CHECK(requests[0].arrival == Seconds(2));
  CHECK(requests[1].arrival == Seconds(4));
  CHECK(system.gateway().programs().counters().completed == 2);
}
