// SPDX-License-Identifier: Apache-2.0
// Disaggregated serving: prompts on one replica, tokens on another, KV entries over a link between them.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/plain_engine.hpp"

namespace kv_transfer_test {

using namespace llmscape;
using llmscape::testing::approx;
using serving::Outcome;
using serving::Role;
using testing::Answer;
using testing::call;
using testing::kPrefill;
using testing::kStep;
using testing::plain_policy;
using testing::plain_seconds;
using testing::prompt;
using testing::System;
using testing::SystemConfig;

namespace {

SystemConfig two_replicas(bool by_layer) {
  SystemConfig config;
  config.replicas = 2;
  config.roles = {Role::prefill, Role::decode};
  config.gateway.move_by_layer = by_layer;
  return config;
}

std::vector<Answer> answers(const SystemConfig& config, std::vector<workloads::Program> programs) {
  System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
  system.run(std::move(programs));
  return system.answers;
}

}  // namespace

TEST_CASE("a KV transfer takes the prompt, then the transfer, then the tokens") {
  SystemConfig config = two_replicas(false);
  config.link_bandwidth = 2e6;  // half a second
  const auto all = answers(config, {call(0, prompt(1, 1000), 5)});
  REQUIRE(all.size() == 1);
  CHECK(all[0].outcome == Outcome::completed);
  CHECK(all[0].request.first_token.si() == approx(kPrefill));
  CHECK(all[0].request.last_token.si() == approx(kPrefill + 0.5 + 4 * kStep));
  CHECK(all[0].request.replica == 1);
}

TEST_CASE("layer by layer a KV transfer takes the longer of computing and moving") {
  for (const double transfer : {0.01, 0.05, 0.5, 2.0}) {
    CAPTURE(transfer);
    SystemConfig config = two_replicas(true);
    config.link_bandwidth = 1e6 / transfer;
    const auto all = answers(config, {call(0, prompt(1, 1000), 5)});
    CHECK(all[0].request.first_token.si() == approx(kPrefill));
    CHECK(all[0].request.last_token.si() == approx(std::max(kPrefill, transfer) + 4 * kStep));
  }
}

TEST_CASE("an answer of one token is not transferred") {
  const auto all = answers(two_replicas(true), {call(0, prompt(1, 1000), 1)});
  CHECK(all[0].request.replica == 0);
  CHECK(all[0].request.last_token.si() == approx(kPrefill));
}

TEST_CASE("decodes are not held up by prompts that another replica computes") {
  // The second prompt takes a second and comes while the first request decodes.
  std::vector<workloads::Program> programs = {call(0, prompt(1, 100), 200), call(0.5, prompt(2, 8000), 2)};
  SystemConfig apart = two_replicas(true);
  SystemConfig together;
  System one(together, plain_policy(), serving::LeastTokens(), plain_seconds);
  one.run(programs);
  System two(apart, plain_policy(), serving::LeastTokens(), plain_seconds);
  two.run(programs);
  const auto longest_gap = [](const System& system) {
    double longest = 0;
    for (const auto& [gap, count] : system.gaps) longest = std::max(longest, gap);
    return longest;
  };
  CHECK(longest_gap(one) > 0.8);
  // The first gap of a transferred request holds the rest of its transfer; no gap holds a prompt.
  CHECK(longest_gap(two) < 0.05);
}

TEST_CASE("blocks are taken before entries are sent: a full decoder makes them wait, and nothing is lost") {
  SystemConfig config = two_replicas(true);
  config.kv_blocks = 40;  // 640 tokens: two requests of 300 and their answers at a time
  std::vector<workloads::Program> programs;
  for (std::uint64_t i = 0; i < 12; ++i)
    programs.push_back(call(0.001 * static_cast<double>(i), prompt(i + 1, 250), 50));
  System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
  system.run(std::move(programs));
  REQUIRE(system.answers.size() == 12);
  for (const Answer& answer : system.answers) CHECK(answer.outcome == Outcome::completed);
  for (const auto& step : system.steps) CHECK(step.kv_used <= config.kv_blocks);
}

// One slot. The first decodes until after the urgent one's prompt, which is the last, is done; two more wait by then.
TEST_CASE("of those that wait for a decoder's slot the most urgent comes first, of equals the first") {
  serving::VllmV1 policy = plain_policy();
  policy.max_num_seqs = 1;
  std::vector<workloads::Program> programs;
  for (std::uint64_t i = 0; i < 3; ++i) {
    programs.push_back(call(0.001 * static_cast<double>(i), prompt(i + 1, 100), 200));
    programs.back().priority = 1;
  }
  programs.push_back(call(100 * kStep, prompt(4, 100), 200));
  System system(two_replicas(true), policy, serving::LeastTokens(), plain_seconds);
  system.run(std::move(programs));
  std::vector<ContentId> order;
  for (const Answer& answer : system.answers) order.push_back(answer.request.prompt.front().id);
  CHECK(order == std::vector<ContentId>{1, 4, 2, 3});
}

TEST_CASE("what the decoder's own prefix cache holds is not sent again") {
  serving::VllmV1 caching = plain_policy();
  caching.enable_prefix_caching = true;
  SystemConfig config = two_replicas(false);
  config.link_bandwidth = 1e6;  // a microsecond for each byte: a millisecond a token
  System system(config, caching, serving::LeastTokens(), plain_seconds);
  system.run({call(0, prompt(1, 1000), 2), call(10, prompt(1, 1000), 2)});
  const auto moving = [&](std::size_t i) {
    const auto& request = system.answers[i].request;
    return (request.last_token - request.first_token).si() - kStep;
  };
  CHECK(moving(0) == approx(1.0));
  CHECK(moving(1) == approx(1.0 - 0.992));  // 62 blocks of 16 are there already
}

TEST_CASE("a request that is given up on its way leaves nothing behind on either side") {
  SystemConfig config = two_replicas(true);
  config.link_bandwidth = 1e6;  // a second for each
  for (const double when : {0.005, 0.05, 0.2, 0.9, 1.05}) {
    CAPTURE(when);
    System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
    auto given_up = call(0, prompt(1, 1000), 50);
    given_up.stages[0].give_up = Seconds(when);
    system.run({given_up, call(5, prompt(2, 1000), 50)});
    REQUIRE(system.answers.size() == 2);
    CHECK(system.answers[0].outcome == Outcome::cancelled);
    CHECK(system.answers[1].outcome == Outcome::completed);
    CHECK(system.replica(0).state().kv.pool.used() == 0);
    CHECK(system.replica(1).state().kv.pool.used() == 0);
  }
}

TEST_CASE("a request that no decoder could ever hold is dropped before its prompt is computed") {
  SystemConfig config = two_replicas(true);
  config.kv_blocks = 40;
  const auto all = answers(config, {call(0, prompt(1, 600), 100)});
  CHECK(all[0].outcome == Outcome::dropped);
  CHECK(all[0].at.si() == 0);
}

TEST_CASE("1,000 random requests over three prefill and two decode replicas: every one answered, invariants kept") {
  for (const bool by_layer : {false, true}) {
    RandomStream random(by_layer ? 3 : 4);
    SystemConfig config;
    config.replicas = 5;
    config.roles = {Role::prefill, Role::prefill, Role::prefill, Role::decode, Role::decode};
    config.gateway.move_by_layer = by_layer;
    config.gateway.timeout = Seconds(12);
    config.kv_blocks = 300;
    config.link_bandwidth = 20e6;
    std::vector<workloads::Program> programs;
    double start = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      start += random.exponential(0.02);
      programs.push_back(call(start, prompt(i + 1, random.integer(1, 1500)), random.integer(1, 60)));
    }
    // At the end each replica reads what it was told last.
    for (std::uint64_t i = 0; i < 30; ++i) programs.push_back(call(start + 100, prompt(2000 + i, 10), 2));
    System system(config, plain_policy(), serving::LeastTokens(), plain_seconds);
    system.run(std::move(programs));
    CHECK(system.answers.size() == 1030);
    std::int64_t completed = 0;
    for (const Answer& answer : system.answers) completed += answer.outcome == Outcome::completed;
    CHECK(completed > 500);
    CHECK(completed < 1000);
    for (std::size_t i = 0; i < 5; ++i) CHECK(system.replica(i).state().kv.pool.used() == 0);
  }
}

}  // namespace kv_transfer_test
