// SPDX-License-Identifier: Apache-2.0
// What users see of answers where an engine sends tokens together, derived by hand. Every step lasts a second.
#include <doctest/doctest.h>

#include <map>

#include "sim/serving/batchers/vllm_v1.hpp"
#include "sim/serving/routers/round_robin.hpp"
#include "tests/support/answers.hpp"

namespace stream_reports_test {

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::by_id;
using llmscape::testing::call;
using llmscape::testing::one_second;
using llmscape::testing::System;
using llmscape::testing::SystemConfig;

namespace {

VllmV1 in_turn() {
  VllmV1 policy;
  policy.async_scheduling = false;
  return policy;
}

SystemConfig with(StreamInterval stream) {
  SystemConfig config;
  config.stream = stream;
  return config;
}

std::map<double, std::int64_t> gaps_of(const System& system) {
  std::map<double, std::int64_t> all;
  for (const auto& [gap, count] : system.gaps) all[gap] += count;
  return all;
}

}  // namespace

// Tokens at 1, 2, ..., 10 s. In fours after the first: seen at 1 (one token), 5 (four), 9 (four), 10 (the last).
TEST_CASE("the first token comes by itself, then four at a time, then the rest") {
  System system(with({4, true}), in_turn(), RoundRobin(), one_second);
  system.run({call(0, {{1, 20}}, 10)});
  const Request request = by_id(system)[0];
  CHECK(request.first_token == Seconds(1));
  CHECK(request.ttft() == Seconds(1));
  CHECK(request.tpot() == Seconds(1));
  CHECK(gaps_of(system) == std::map<double, std::int64_t>{{0, 6}, {1, 1}, {4, 2}});
}

// Seen at 4 (four tokens), 8 (four), 10 (two): TPOT is (10 - 4) / 9.
TEST_CASE("or it waits for the others of its interval, and the rest of the answer looks faster") {
  System system(with({4, false}), in_turn(), RoundRobin(), one_second);
  system.run({call(0, {{1, 20}}, 10)});
  const Request request = by_id(system)[0];
  CHECK(request.first_token == Seconds(1));
  CHECK(request.ttft() == Seconds(4));
  CHECK(request.tpot() == Seconds(6.0 / 9));
  CHECK(gaps_of(system) == std::map<double, std::int64_t>{{0, 7}, {2, 1}, {4, 1}});
}

TEST_CASE("an answer shorter than its interval is seen when it ends") {
  System system(with({4, false}), in_turn(), RoundRobin(), one_second);
  system.run({call(0, {{1, 20}}, 3), call(0, {{2, 20}}, 1)});
  CHECK(by_id(system)[0].ttft() == Seconds(3));
  CHECK(by_id(system)[1].ttft() == Seconds(1));
}

// The pool holds one of them at a time: the second gives way, and what it had answered is still on its way.
TEST_CASE("a call that gives way goes on counting where it was") {
  SystemConfig config = with({4, true});
  config.kv_blocks = 4;  // of 16 tokens
  System system(config, in_turn(), RoundRobin(), one_second);
  system.run({call(0, {{1, 31}}, 20), call(0, {{2, 31}}, 20)});
  const Request second = by_id(system)[1];
  REQUIRE(second.preemptions == 1);
  CHECK(second.seen.tokens == 20);
  std::int64_t seen = 0;
  for (const auto& [gap, count] : system.gaps) seen += count;
  CHECK(seen == 2 * 19);
}

TEST_CASE(
    "does it matter how far steps are planned ahead, or whether drafts are accepted? no; every token is seen once") {
  const auto run = [](std::int64_t lookahead, const Speculation& speculation) {
    SystemConfig config = with({7, false});
    config.lookahead = lookahead;
    config.speculation = speculation;
    System system(config, VllmV1(), RoundRobin(), one_second);
    std::vector<workloads::Program> programs;
    for (int i = 0; i < 20; ++i) programs.push_back(call(1.7 * i, {{static_cast<ContentId>(i + 1), 30}}, 20 + 3 * i));
    system.run(programs);
    std::int64_t seen = 0;
    for (const auto& [gap, count] : system.gaps) seen += count;
    std::int64_t answered = 0;
    for (const auto& [id, request] : by_id(system)) {
      CHECK(request.seen.tokens == request.output_tokens);
      CHECK(request.seen.first >= request.first_token);
      CHECK(request.seen.first <= request.last_token);
      answered += request.output_tokens - 1;
    }
    CHECK(seen == answered);
    return gaps_of(system);
  };
  CHECK(run(64, {}) == run(0, {}));
  const Speculation three{3, 0.7, RandomStreams(1)};
  CHECK(run(64, three) == run(0, three));
}

TEST_CASE("an interval of one is none, to the last bit") {
  const auto run = [](StreamInterval stream) {
    System system(with(stream), VllmV1(), RoundRobin(), one_second);
    system.run({call(0, {{1, 20}}, 10), call(3.3, {{2, 20}}, 10)});
    return gaps_of(system);
  };
  CHECK(run({1, false}) == run({}));
}

}  // namespace stream_reports_test
