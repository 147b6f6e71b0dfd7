// SPDX-License-Identifier: Apache-2.0
// How far a replica prices steps ahead of the clock: never what a message that is known to come would take back, once
// it has been taken back before.
#include <doctest/doctest.h>

#include "sim/serving/batchers/vllm_v1.hpp"
#include "sim/serving/routers/round_robin.hpp"
#include "tests/support/serving_bench.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::call;
using llmscape::testing::System;
using llmscape::testing::SystemConfig;

namespace {

struct Counts {
  std::int64_t prices = 0, steps = 0, wakes = 0;
};

// 400 calls of 10 to 49 tokens, one each 7.1 ms for every replica, steps of a millisecond.
Counts counted(std::size_t replicas) {
  SystemConfig config;
  config.replicas = replicas;
  config.kv_blocks = 100'000;
  Counts counts;
  System system(config, VllmV1(), RoundRobin(), [&](const models::Batch&) {
    ++counts.prices;
    return 1e-3;
  });
  std::vector<workloads::Program> programs;
  for (std::int64_t i = 0; i < 400; ++i)
    programs.push_back(call(0.0071 / static_cast<double>(replicas) * static_cast<double>(i),
                            {{static_cast<ContentId>(i + 1), 100}}, 10 + i * 17 % 40));
  system.run(std::move(programs));
  counts.wakes = system.wakes;
  counts.steps = static_cast<std::int64_t>(system.steps.size());
  return counts;
}

}  // namespace

TEST_CASE("with one replica every message is for it: what it takes back is hardly ever priced") {
  const Counts one = counted(1);
  CHECK(one.steps > 2500);  // 400 calls of 29 decodes in the mean, four at a time
  CHECK(one.prices >= one.steps);
  CHECK(one.prices - one.steps < 5);  // until it has learned
}

TEST_CASE("with eight replicas in turn most messages are for others: few steps are priced in vain, for fewer wakings") {
  const Counts eight = counted(8);
  const std::int64_t in_vain = eight.prices - eight.steps;
  // 4.2 %; 20 % where a replica does not know the turns before its own, 26 did it not learn at all.
  CHECK(in_vain > 0);
  CHECK(20 * in_vain < eight.steps);
  // At least two of each call, at its prompt and its end: 0.26 a step. 0.40, and 0.42 without those turns.
  CHECK(eight.wakes >= 800);
  CHECK(100 * eight.wakes < 41 * eight.steps);
}
