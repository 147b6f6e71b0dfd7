// SPDX-License-Identifier: Apache-2.0
// Batches that follow one another through the stages of a pipeline, derived by hand.
#include <doctest/doctest.h>

#include "sim/serving/batchers/sglang.hpp"
#include "sim/serving/routers/round_robin.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/plain_engine.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::by_id;
using llmscape::testing::call;
using llmscape::testing::one_second;
using llmscape::testing::System;
using llmscape::testing::SystemConfig;

namespace {

VllmV1 batcher(std::int64_t chunk = 8192) {
  VllmV1 policy = llmscape::testing::plain_policy();
  policy.max_num_batched_tokens = chunk;
  return policy;
}

SystemConfig shared(std::size_t stages, std::size_t streams) {
  SystemConfig config;
  config.replicas = streams;
  config.pipeline_stages = static_cast<int>(stages);
  config.pipeline = std::make_shared<Pipeline>(stages);
  return config;
}

}  // namespace

TEST_CASE("a stage takes up a batch when the stage before and its own last batch are done") {
  Pipeline pipeline(2);
  const auto long_one = pipeline.pass(Seconds(0), Seconds(3));
  CHECK(long_one.left_first == Seconds(3));
  CHECK(long_one.end == Seconds(6));
  const auto short_one = pipeline.pass(Seconds(0), Seconds(1));  // first stage from 3 to 4, the second is taken until 6
  CHECK(short_one.entered == Seconds(3));
  CHECK(short_one.end == Seconds(7));
  CHECK(short_one.idle == Seconds(0));
  // The first stage has been idle since 4, the second works on without a pause.
  const auto after = pipeline.pass(Seconds(6), Seconds(1));
  CHECK(after.entered == Seconds(6));
  CHECK(after.end == Seconds(8));
  CHECK(after.idle == Seconds(2));
}

TEST_CASE("one stream of batches takes as long as a batch that passes the stages alone") {
  const std::vector<workloads::Program> programs = {call(0, {{1, 100}}, 5), call(4, {{2, 300}}, 9),
                                                    call(4.5, {{3, 10}}, 2)};
  SystemConfig alone;
  alone.pipeline_stages = 3;
  System before(alone, batcher(), RoundRobin(), one_second);
  before.run(programs);
  System streamed(shared(3, 1), batcher(), RoundRobin(), one_second);
  streamed.run(programs);
  auto expected = by_id(before), seen = by_id(streamed);
  for (const auto& [id, request] : expected) {
    CHECK(seen[id].first_token == request.first_token);
    CHECK(seen[id].last_token == request.last_token);
  }
}

TEST_CASE("as many streams as stages keep every stage busy") {
  std::vector<workloads::Program> programs;
  for (ContentId i = 0; i < 4; ++i) programs.push_back(call(0, {{i + 1, 100}}, 10));
  System system(shared(4, 4), batcher(), RoundRobin(), one_second);
  system.run(programs);
  // Each stream's step takes 4 s, a second behind the one before: 40 s and 3 s for all; one by one they took 160 s.
  CHECK(system.end == Seconds(43));
  for (const auto& [id, request] : by_id(system)) CHECK(request.bubble == Seconds(0));
}

TEST_CASE("what stages idle before a request's steps is its bubble") {
  // Three seconds for a prompt, one for a decode; two stages.
  System system(shared(2, 2), batcher(), RoundRobin(), [](const models::Batch& b) { return b.chunks.empty() ? 1 : 3; });
  system.run({call(0, {{1, 100}}, 2), call(0, {{2, 100}}, 2)});
  // Stage 1: prompts 0-3, 3-6, then decodes at 6-7 (its prompt ended at 6) and 9-10. Stage 2: 3-6, 6-9, 9-10, 10-11.
  auto requests = by_id(system);
  CHECK(requests[0].last_token == Seconds(10));
  CHECK(requests[1].last_token == Seconds(11));
  CHECK(requests[0].bubble == Seconds(0));
  CHECK(requests[1].bubble == Seconds(2));  // the first stage from 7 to 9
}

TEST_CASE("chunks of one prompt follow each other through the stages, its first token waits for the last") {
  SystemConfig config = shared(4, 1);
  System one_by_one(config, batcher(100), RoundRobin(), one_second);
  one_by_one.run({call(0, {{1, 400}}, 3)});
  CHECK(by_id(one_by_one)[0].first_token == Seconds(16));
  config = shared(4, 1);
  config.chunks_follow = true;
  System following(config, batcher(100), RoundRobin(), one_second);
  following.run({call(0, {{1, 400}}, 3)});
  CHECK(by_id(following)[0].first_token == Seconds(7));  // 4 chunks and 3 stages more
  CHECK(by_id(following)[0].last_token == Seconds(15));  // 2 tokens of 4 s
}

TEST_CASE("chunks of equal time hold fewer tokens the more they attend to") {
  SgLang policy;
  policy.chunked_prefill_size = 1024;
  policy.overlap_schedule = false;
  const auto seconds = [](const models::Batch& batch) {
    double time = 0;  // a millisecond for each token, as much again for each 1,024 tokens before it
    for (const auto& c : batch.chunks)
      time += 1e-3 * static_cast<double>(c.tokens) * (1 + static_cast<double>(c.cached) / 1024);
    return time;
  };
  System equal_tokens({}, policy, RoundRobin(), seconds);
  equal_tokens.run({call(0, {{1, 2048}}, 1)});
  CHECK(equal_tokens.steps.size() == 2);
  policy.chunks = SgLang::Chunks::equal_time;
  System equal_time({}, policy, RoundRobin(), seconds);
  equal_time.run({call(0, {{1, 2048}}, 1)});
  // 1,024; beside 1,024 a token takes 2 ms: 512; beside 1,536 it takes 2.5 ms: 409 fit, 384 in whole grains of 64; the
  // rest.
  REQUIRE(equal_time.steps.size() == 4);
  CHECK(equal_time.steps[0].prefill_tokens == 1024);
  CHECK(equal_time.steps[1].prefill_tokens == 512);
  CHECK(equal_time.steps[2].prefill_tokens == 384);
  CHECK(equal_time.steps[3].prefill_tokens == 128);
}
