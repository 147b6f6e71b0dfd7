// SPDX-License-Identifier: Apache-2.0
// KV blocks that leave HBM, and prefixes that come back: closed forms.
#include <doctest/doctest.h>

#include "sim/serving/kv/kv_tier.hpp"
#include "sim/serving/routers/round_robin.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/plain_engine.hpp"

namespace kv_tiers_test {

using namespace llmscape;
using llmscape::testing::approx;
using serving::KvBelow;
using serving::KvFetch;
using serving::KvTier;
using serving::KvTierConfig;
using serving::KvWrite;
using testing::call;
using testing::kPerPromptToken;
using testing::kStep;
using testing::plain_policy;
using testing::plain_seconds;
using testing::prompt;
using testing::System;
using testing::SystemConfig;

namespace {

constexpr double kBlockBytes = 16'000;  // 16 tokens of 1,000 bytes

serving::VllmV1 policy() {
  serving::VllmV1 caching = plain_policy();
  caching.enable_prefix_caching = true;
  return caching;
}

KvTierConfig tier(double bandwidth, std::int64_t blocks = 1'000'000) {
  KvTierConfig config;
  config.name = "host";
  config.blocks = blocks;
  config.block_bytes = Bytes(kBlockBytes);
  config.read = config.write = BytesPerSecond(bandwidth);
  return config;
}

// One replica of `blocks` blocks over the tier.
SystemConfig over(const std::shared_ptr<KvTier>& tier, std::int64_t blocks, KvFetch fetch = KvFetch::by_cost,
                  KvWrite write = KvWrite::on_eviction) {
  SystemConfig config;
  config.kv_blocks = blocks;
  config.below = [tier, fetch, write](std::size_t) { return KvBelow{{tier}, write, fetch, true}; };
  return config;
}

double ttft(const System& system, std::uint64_t id) {
  for (const auto& answer : system.answers)
    if (answer.request.id == id) return (answer.request.first_token - answer.request.arrival).si();
  return -1;
}

// The first prompt comes back after the second has taken 25 of its 62 cached blocks: 63 of 100 each.
const std::vector<workloads::Program> kThere = {call(0, prompt(1), 1), call(10, prompt(2), 1), call(20, prompt(1), 1)};
constexpr double kGone = 25 * 16;         // tokens
constexpr double kRest = 1000 - 62 * 16;  // that no block holds
constexpr double kGoneBytes = 25 * kBlockBytes;

}  // namespace

TEST_CASE("a prefix is computed below the break-even bandwidth and fetched above it: the sooner of both") {
  const double break_even = kGoneBytes / (kGone * kPerPromptToken);  // 10 MB/s
  for (const double share : {0.25, 0.99, 1.01, 4.0, 1e6}) {
    CAPTURE(share);
    const double bandwidth = share * break_even;
    const auto first_token = [&](KvFetch fetch) {
      const auto host = std::make_shared<KvTier>(tier(bandwidth), nullptr);
      System system(over(host, 100, fetch), policy(), serving::RoundRobin(), plain_seconds);
      system.run(kThere);
      host->check_invariants();
      CHECK(host->totals().blocks_read ==
            (fetch == KvFetch::always || (fetch == KvFetch::by_cost && share > 1) ? 25 : 0));
      return ttft(system, 2);
    };
    const double computed = first_token(KvFetch::never), fetched = first_token(KvFetch::always);
    CHECK(computed == approx(kStep + (kGone + kRest) * kPerPromptToken));
    CHECK(fetched == approx(kGoneBytes / bandwidth + kStep + kRest * kPerPromptToken));
    CHECK(first_token(KvFetch::by_cost) == std::min(computed, fetched));
  }
}

TEST_CASE("what is fetched counts as reused, and the latency and the queue of the tier as its time") {
  KvTierConfig config = tier(1e9);
  config.latency = Seconds(0.002);
  const auto host = std::make_shared<KvTier>(config, nullptr);
  System system(over(host, 100), policy(), serving::RoundRobin(), plain_seconds);
  system.run(kThere);
  CHECK(ttft(system, 2) == approx(0.002 + kGoneBytes / 1e9 + kStep + kRest * kPerPromptToken));
  CHECK(system.replica().state().counts.fetched_tokens == 400);
  CHECK(system.replica().state().counts.reused_tokens == 62 * 16);
  // 37 blocks of HBM were there still; all 62 of both prompts went down as wholes, and the first was there already when
  // the second was evicted for it.
  CHECK(host->totals().blocks_written == 2 * 62);
  CHECK(host->totals().asked_tokens == 62 * 16 * 2 + 25 * 16);
}

TEST_CASE("on_eviction writes what is evicted, when it is, write_through what is computed and at once") {
  const double bandwidth = 62 * kBlockBytes / 5;  // a prompt is written in 5 s
  for (const KvWrite write : {KvWrite::on_eviction, KvWrite::write_through}) {
    for (const double at : {14.9, 15.1}) {  // the second prompt has come at 10
      CAPTURE(static_cast<int>(write));
      CAPTURE(at);
      KvTierConfig config = tier(bandwidth);
      config.read = BytesPerSecond(1e12);
      const auto host = std::make_shared<KvTier>(config, nullptr);
      System system(over(host, 100, KvFetch::by_cost, write), policy(), serving::RoundRobin(), plain_seconds);
      system.run({kThere[0], kThere[1], call(at, prompt(1), 1)});
      const bool found = write == KvWrite::write_through || at > 15;
      CHECK(host->totals().blocks_read == (found ? 25 : 0));
      // On eviction: the first for the second, the second for the first. Through: both, once each.
      CHECK(host->totals().blocks_written == 2 * 62);
    }
  }
}

TEST_CASE("HBM over a tier of infinite bandwidth answers as soon as an HBM as large as both") {
  std::vector<workloads::Program> chats;  // five conversations in turn, each prompt holds all that was said before
  for (int turn = 0; turn < 8; ++turn)
    for (std::uint64_t chat = 1; chat <= 5; ++chat)
      chats.push_back(
          call(static_cast<double>(5 * turn) + 0.9 * static_cast<double>(chat), prompt(chat, 100 + 150 * turn), 30));
  SystemConfig large;
  large.kv_blocks = 10'000;
  System in_hbm(large, policy(), serving::RoundRobin(), plain_seconds);
  in_hbm.run(chats);
  for (const KvWrite write : {KvWrite::on_eviction, KvWrite::write_through}) {
    const auto host = std::make_shared<KvTier>(tier(1e30), nullptr);
    System tiered(over(host, 100, KvFetch::by_cost, write), policy(), serving::RoundRobin(), plain_seconds);
    tiered.run(chats);
    CHECK(host->totals().blocks_read > 1000);
    CHECK(tiered.replica().state().counts.prefilled_tokens == in_hbm.replica().state().counts.prefilled_tokens);
    for (std::uint64_t id = 0; id < chats.size(); ++id)
      CHECK(ttft(tiered, id) == approx(ttft(in_hbm, id)).epsilon(1e-12));
  }
}

TEST_CASE("a request whose prefix is on its way is overtaken, and its blocks are kept for it") {
  const auto host = std::make_shared<KvTier>(tier(kGoneBytes / 0.03), nullptr);  // 30 ms, and 40 if it were computed
  System system(over(host, 200), policy(), serving::RoundRobin(), plain_seconds);
  // The third prompt drives the first out; then that comes back, with another one 1 ms behind it.
  system.run({call(0, prompt(1, 1008), 1), call(10, prompt(2, 1600), 1), call(15, prompt(3, 1200), 1),
              call(20, prompt(1, 1008), 1), call(20.001, prompt(4, 100), 1)});
  CHECK(host->totals().blocks_read > 0);
  CHECK(ttft(system, 4) == approx(kStep + 100 * kPerPromptToken));
  CHECK(system.answers[3].request.id == 4);
  CHECK(system.answers[4].request.id == 3);
}

TEST_CASE("a call that is given up while its prefix is on its way leaves at once, with its blocks") {
  const auto host = std::make_shared<KvTier>(tier(1e3), nullptr);  // 400 s
  SystemConfig config = over(host, 100, KvFetch::always);
  auto impatient = call(20, prompt(1), 1);
  impatient.stages[0].give_up = Seconds(3);
  KvTierConfig fast = tier(1e3);
  fast.write = BytesPerSecond(1e12);
  const auto slow_reads = std::make_shared<KvTier>(fast, nullptr);
  config.below = [&](std::size_t) { return KvBelow{{slow_reads}, KvWrite::on_eviction, KvFetch::always}; };
  System system(config, policy(), serving::RoundRobin(), plain_seconds);
  system.run({kThere[0], kThere[1], impatient});
  CHECK(slow_reads->totals().blocks_read == 25);
  CHECK(system.answers[2].outcome == serving::Outcome::cancelled);
  CHECK(system.answers[2].at == Seconds(23));
  CHECK(system.replica().state().kv.pool.used() == 0);
}

}  // namespace kv_tiers_test
