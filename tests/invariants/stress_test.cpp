// SPDX-License-Identifier: Apache-2.0
// Everything at once: preemptions, abandoned calls, time-outs, priorities, admission limits, shared prefixes, programs
// of many stages. Whatever happens, the books must balance.
#include <doctest/doctest.h>

#include "sim/serving/kv/kv_host.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/batchers.hpp"
#include "tests/support/random_programs.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::batcher_of;
using llmscape::testing::random_programs;
using llmscape::testing::short_steps;
using llmscape::testing::System;
using llmscape::testing::SystemConfig;
using llmscape::testing::without_prefixes;
using workloads::Program;

namespace {

// What a model keeps of a sequence, by turns: entries; entries in a budget, of the whole prompt, of each chunk or in a
// ring; layers with a window beside others, but not beside a host, which keeps all layers whole (windows_of); recurrent
// states beside entries.
void keep_of_sequences(SystemConfig& config, bool budget, std::uint64_t seed) {
  if (budget) {
    const models::KvBudget budgets[] = {{0, 0.4}, {90, 0, true}, {60, 0, false, true}};
    config.budget = models::PoolBudget(budgets[seed / 4 % 3]);
  } else if (seed % 4 == 3 && seed % 5 != 0) {
    config.windows = {{seed % 8 == 3 ? 2 : 5, 0.5}};
    if (seed % 8 == 3) config.sharing = models::Sharing::exact_end;
  }
}

}  // namespace

TEST_CASE("whatever happens: calls, tasks, tokens and KV blocks are conserved (INV-1, 3, 4, 5, 8, 14)") {
  std::vector<std::shared_ptr<const RouterPolicy>> router_table;
  Diagnostics readable;
  for (const auto& member : routers().members())
    router_table.push_back(routers().read(YamlNode::scalar(member.name), readable));
  REQUIRE_FALSE(readable.has_errors());
  std::int64_t cancelled = 0, timed_out = 0, dropped = 0, preempted = 0;
  for (const auto& member : batchers().members()) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      CAPTURE(member.name);
      CAPTURE(seed);
      RandomStream random(seed);
      const bool budget = seed % 4 == 1 && batcher_of(member.name)->kv_grows();
      const auto policy = batcher_of(budget ? without_prefixes(member.name) : member.name);
      SystemConfig config;
      config.kv_blocks = random.integer(30, 120);
      config.max_model_len = random.integer(200, 400);
      keep_of_sequences(config, budget, seed);
      config.replicas = 1 + random.below(3);
      config.kv_laws = {0, 50};
      if (seed % 2 == 0) config.speculation = {random.integer(1, 6), random.uniform(), RandomStreams(seed)};
      if (seed % 3 == 0)
        config.adapters = {std::make_shared<AdapterLaw>(6, 1, RandomStreams(seed)), random.integer(1, 4),
                           Seconds(1e-3)};
      if (seed % 5 == 0) {
        const KvHostConfig host{config.kv_blocks - config.kv_blocks / 2,
                                {{0, 0, {}, 60}, {1, 50, {}, 40}},
                                4,
                                BytesPerSecond(1e6),
                                BytesPerSecond(2e6),
                                Seconds(1e-6),
                                seed % 2 == 0 ? KvCopies::in_turn : KvCopies::overlapped,
                                policy->prefix_caching(),
                                Bytes(100)};
        config.below = [host](std::size_t) { return KvBelow{{std::make_shared<KvHost>(host)}}; };
      }
      config.gateway.retrieval_servers = random.integer(0, 2);
      if (random.chance(0.5)) config.gateway.timeout = Seconds(random.exponential(0.5));
      if (random.chance(0.5)) config.gateway.admission.max_outstanding = random.integer(1, 40);
      if (config.gateway.admission.max_outstanding && random.chance(0.5))
        config.gateway.admission.max_waiting = random.integer(0, 20);
      const RouterPolicy& router = *router_table[random.below(router_table.size())];
      const std::vector<Program> programs = random_programs(random, 150);
      System system(config, *policy, router, short_steps);
      system.run(programs);  // checks INV-1, INV-4 and INV-8

      config.lookahead = 0;
      System step_by_step(config, *policy, router, short_steps);
      step_by_step.run(programs);
      REQUIRE(step_by_step.answers.size() == system.answers.size());
      for (std::size_t i = 0; i < system.answers.size(); ++i) {
        CHECK(system.answers[i].request.id == step_by_step.answers[i].request.id);
        CHECK(system.answers[i].outcome == step_by_step.answers[i].outcome);
        CHECK(system.answers[i].at == step_by_step.answers[i].at);
      }
      if (config.replicas == 1) CHECK(system.gaps == step_by_step.gaps);  // several replicas report in another order

      const Counters calls = system.gateway().calls().counters();
      CHECK(calls.queued + calls.running + calls.waiting == 0);
      CHECK(system.gateway().programs().counters().injected == 150);
      CHECK(static_cast<std::int64_t>(system.answers.size()) == calls.injected);
      std::int64_t emitted = 0, work = 0, gaps = 0;
      for (const auto& [gap, count] : system.gaps) gaps += count;
      for (const auto& answer : system.answers) {
        const Request& r = answer.request;
        emitted += r.emitted;
        gaps -= std::max<std::int64_t>(0, r.emitted - 1);
        work += r.prefilled + r.reused;
        preempted += r.preemptions;
        if (answer.outcome != Outcome::completed) continue;
        CHECK(r.emitted == r.output_tokens);
        CHECK(r.arrival <= r.enqueue);
        CHECK(r.enqueue <= r.schedule);
        CHECK(r.schedule < r.first_token);
        CHECK(r.first_token <= r.last_token);
        CHECK(r.prefilled + r.reused >= r.prompt_tokens);
      }
      std::int64_t engine_emitted = 0, engine_work = 0;
      for (std::size_t i = 0; i < config.replicas; ++i) {
        const EngineState& state = system.replica(i).state();
        engine_emitted += state.emitted_tokens();
        engine_work += state.counts.prefilled_tokens + state.counts.reused_tokens;
        CHECK(state.kv.pool.used() == 0);
        CHECK(state.running.size() == 0);
        CHECK(state.waiting.empty());
        CHECK(state.running.adapters().in_use() == 0);
      }
      CHECK(emitted == engine_emitted);
      CHECK(gaps == 0);  // every token but the first of a request came after a gap
      CHECK(work == engine_work);
      cancelled += calls.cancelled;
      timed_out += calls.timed_out;
      dropped += calls.dropped;
    }
  }
  // The hard cases were really met.
  CHECK(cancelled > 1000);
  CHECK(timed_out > 1000);
  CHECK(dropped > 1000);
  CHECK(preempted > 100);
}

TEST_CASE("streams that share the stages of a pipeline: calls, tokens and KV blocks are conserved (INV-1, 3, 4, 5)") {
  std::int64_t completed = 0, preempted = 0;
  for (const auto& member : batchers().members()) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      CAPTURE(member.name);
      CAPTURE(seed);
      RandomStream random(seed);
      Diagnostics diagnostics;
      const bool budget = seed % 4 == 1 && batcher_of(member.name)->kv_grows();
      const auto policy = batcher_of(budget ? without_prefixes(member.name) : member.name);
      SystemConfig config;
      config.kv_blocks = random.integer(30, 120);
      config.max_model_len = random.integer(200, 400);
      keep_of_sequences(config, budget, seed);
      config.replicas = 1 + random.below(4);
      config.pipeline_stages = static_cast<int>(random.integer(1, 5));
      config.pipeline = std::make_shared<Pipeline>(static_cast<std::size_t>(config.pipeline_stages));
      config.chunks_follow = random.chance(0.5);
      if (random.chance(0.5)) config.gateway.timeout = Seconds(random.exponential(0.5));
      const auto router = routers().read(YamlNode::scalar("round_robin"), diagnostics);
      System system(config, *policy, *router, short_steps);
      system.run(random_programs(random, 150));  // checks INV-1, INV-4 and INV-8

      std::int64_t emitted = 0, engine_emitted = 0;
      for (const auto& answer : system.answers) {
        const Request& r = answer.request;
        emitted += r.emitted;
        preempted += r.preemptions;
        CHECK(r.bubble >= -1e-9 * system.end);
        if (answer.outcome != Outcome::completed) continue;
        ++completed;
        CHECK(r.emitted == r.output_tokens);
        CHECK(r.schedule < r.first_token);
        CHECK(r.first_token <= r.last_token);
      }
      for (std::size_t i = 0; i < config.replicas; ++i) {
        const EngineState& state = system.replica(i).state();
        engine_emitted += state.emitted_tokens();
        CHECK(state.kv.pool.used() == 0);
        CHECK(state.running.size() == 0);
        CHECK(state.waiting.empty());
      }
      CHECK(emitted == engine_emitted);
      // A stage does one thing at a time.
      Seconds busy;
      for (std::size_t i = 0; i < config.replicas; ++i) busy += system.replica(i).totals().busy;
      Seconds last;
      for (const auto& step : system.steps) last = std::max(last, step.end);
      CHECK(busy <= last * (1 + 1e-9));
    }
  }
  CHECK(completed > 5'000);
  CHECK(preempted > 20);
}
