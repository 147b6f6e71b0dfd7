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
  std::int64_t prices = 0, steps = 0;
};

// 400 calls of 10 to 49 tokens, one each 37 ms for every replica, steps of a millisecond.
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
    programs.push_back(call(0.037 / static_cast<double>(replicas) * static_cast<double>(i),
                            {{static_cast<ContentId>(i + 1), 100}}, 10 + i * 17 % 40));
  system.run(std::move(programs));
  counts.steps = static_cast<std::int64_t>(system.steps.size());
  return counts;
}

}  // namespace

TEST_CASE("with one replica every message is for it: what it takes back is hardly ever priced") {
  const Counts one = counted(1);
  CHECK(one.steps > 5000);  // 27 decodes a call on average, seldom together
  CHECK(one.prices >= one.steps);
  CHECK(one.prices - one.steps < 400 / 20);
}

TEST_CASE("with eight replicas most messages are for others: some steps are priced in vain, and fewer than half") {
  const Counts eight = counted(8);
  CHECK(eight.prices > eight.steps);
  CHECK(2 * eight.prices < 3 * eight.steps);
}
