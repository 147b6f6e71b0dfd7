// SPDX-License-Identifier: Apache-2.0
// Conversations whose KV outgrows HBM, over tiers of every kind, with calls that are given up and replicas that are
// lost. Whatever happens, the books must balance.
#include <doctest/doctest.h>

#include "base/random.hpp"
#include "sim/serving/kv/kv_tier.hpp"
#include "tests/support/serving_bench.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::call;
using llmscape::testing::Script;
using llmscape::testing::System;
using llmscape::testing::SystemConfig;
using workloads::Program;

namespace {

double seconds(const models::Batch& batch) { return 1e-3 + 1e-4 * static_cast<double>(batch.tokens()); }

std::vector<Program> random_chats(RandomStream& random, int count) {
  std::vector<Program> programs;
  std::vector<std::int64_t> said(12);
  double at = 0;
  for (int p = 0; p < count; ++p) {
    at += random.chance(0.3) ? 0 : random.exponential(0.03);
    const std::uint64_t chat = random.below(said.size());
    said[chat] = said[chat] > 400 ? random.integer(1, 60) : said[chat] + random.integer(1, 80);
    Program program = call(at, {{9, 20, 0}, {100 + chat, said[chat], 0}}, random.integer(1, 40),
                           static_cast<int>(random.integer(0, 1)));
    if (random.chance(0.2)) program.stages[0].give_up = Seconds(random.exponential(0.1));
    programs.push_back(std::move(program));
  }
  return programs;
}

// Replica by replica: tiers of its own, then some that all share.
class RandomTiers {
 public:
  RandomTiers(RandomStream random, std::size_t replicas) {
    const auto config = [&random](bool own) {
      KvTierConfig c;
      c.name = own ? "own" : "shared";
      c.blocks = random.integer(1, 200);
      c.block_bytes = Bytes(16'000);
      c.read = BytesPerSecond(random.log_normal(17, 2));  // about 24 MB/s, half of the break-even bandwidth
      c.write = BytesPerSecond(random.log_normal(17, 2));
      c.latency = Seconds(random.chance(0.5) ? 0 : random.exponential(0.001));
      c.of_one_replica = own;
      return c;
    };
    KvTier* shared = nullptr;
    for (std::int64_t i = random.integer(0, 2); i > 0; --i) {
      below_.insert(below_.begin(), tiers_.emplace_back(std::make_shared<KvTier>(config(false), shared)));
      shared = tiers_.back().get();
    }
    const std::int64_t owned = random.integer(below_.empty() ? 1 : 0, 2);
    const auto write = random.chance(0.5) ? KvWrite::on_eviction : KvWrite::write_through;
    const auto fetch = random.chance(0.7) ? KvFetch::by_cost : KvFetch::always;
    const bool prefetch = random.chance(0.5);
    for (std::size_t r = 0; r < replicas; ++r) {
      KvBelow& stack = stacks_.emplace_back(KvBelow{below_, write, fetch, prefetch});
      KvTier* nearest = shared;
      for (std::int64_t i = 0; i < owned; ++i) {
        stack.stores.insert(stack.stores.begin(), tiers_.emplace_back(std::make_shared<KvTier>(config(true), nearest)));
        nearest = tiers_.back().get();
      }
    }
  }
  [[nodiscard]] const KvBelow& below(std::size_t replica) const { return stacks_[replica]; }
  // Returns what was read.
  [[nodiscard]] std::int64_t check() const {
    std::int64_t read = 0;
    for (const auto& one : tiers_) {
      const KvTier& tier = *one;
      tier.check_invariants();
      read += tier.totals().blocks_read;
    }
    return read;
  }

 private:
  std::vector<std::shared_ptr<KvTier>> tiers_;
  std::vector<std::shared_ptr<KvStore>> below_;
  std::deque<KvBelow> stacks_;
};

}  // namespace

TEST_CASE("whatever moves between HBM and tiers: calls, tokens and blocks are conserved (INV-1, 4, 5, 14, 16)") {
  std::int64_t read = 0, fetched = 0, given_up = 0, lost = 0, preempted = 0;
  for (const char* batcher : {"vllm_v1", "sglang"}) {
    Diagnostics diagnostics;
    const auto policy = batchers().read(YamlNode::scalar(batcher), diagnostics);
    const auto router = routers().read(YamlNode::scalar("prefix_affinity"), diagnostics);
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      CAPTURE(batcher);
      CAPTURE(seed);
      RandomStream random(seed);
      SystemConfig config;
      config.kv_blocks = random.integer(40, 150);
      config.replicas = 1 + random.below(3);
      if (random.chance(0.5)) config.gateway.timeout = Seconds(random.exponential(1));
      if (random.chance(0.5)) {
        const double at = random.exponential(2), again = at + random.exponential(0.5);
        config.controller = [at, again] {
          const auto lose = [](Fleet& fleet, Seconds now) { fleet.lose(0, false, now); };
          const auto start = [](Fleet& fleet, Seconds now) { fleet.repair(0, Seconds(0.1), now); };
          return std::make_unique<Script>(std::vector<Script::Act>{{at, lose}, {again, start}});
        };
      }
      const std::vector<Program> programs = random_chats(random, 200);
      const RandomStream drawn = random;
      const auto run = [&](std::int64_t lookahead) {
        RandomTiers tiers(drawn, config.replicas);
        config.lookahead = lookahead;
        config.below = [&tiers](std::size_t replica) { return tiers.below(replica); };
        auto system = std::make_unique<System>(config, *policy, *router, seconds);
        system->run(programs);
        read += tiers.check();
        return system;
      };
      const auto system = run(64), step_by_step = run(0);
      REQUIRE(system->answers.size() == step_by_step->answers.size());
      std::int64_t work = 0;
      for (std::size_t i = 0; i < system->answers.size(); ++i) {
        const auto& answer = system->answers[i];
        CHECK(answer.request.id == step_by_step->answers[i].request.id);
        CHECK(answer.outcome == step_by_step->answers[i].outcome);
        CHECK(answer.at == step_by_step->answers[i].at);
        CHECK(answer.request.reused == step_by_step->answers[i].request.reused);
        work += answer.request.prefilled + answer.request.reused;
        given_up += answer.outcome == Outcome::cancelled || answer.outcome == Outcome::timed_out ? 1 : 0;
        lost += answer.request.attempt;
        preempted += answer.request.preemptions;
      }
      std::int64_t engine_work = 0;
      for (std::size_t i = 0; i < config.replicas; ++i) {
        const EngineState& state = system->replica(i).state();
        engine_work += state.counts.prefilled_tokens + state.counts.reused_tokens;
        fetched += state.counts.fetched_tokens;
        CHECK(state.counts.fetched_tokens <= state.counts.reused_tokens);
        CHECK(state.kv.pool.used() == 0);
      }
      CHECK(work == engine_work);
    }
  }
  // The hard cases were really met.
  CHECK(read > 10'000);
  CHECK(fetched > 50'000);
  CHECK(given_up > 1000);
  CHECK(lost > 30);
  CHECK(preempted > 100);
}
