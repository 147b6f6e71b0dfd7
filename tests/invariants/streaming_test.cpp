// SPDX-License-Identifier: Apache-2.0
// Streaming prompts while everything else happens too: preemptions and copies to the host, abandoned calls,
// time-outs, admission limits, replicas that are lost. Whatever happens, the books must balance.
#include <doctest/doctest.h>

#include "sim/serving/batchers/streaming.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"
#include "sim/serving/kv/kv_swap.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/random_programs.hpp"
#include "workloads/streams/prompts.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::Script;
using llmscape::testing::short_steps;
using llmscape::testing::System;
using llmscape::testing::SystemConfig;
using workloads::Program;
using workloads::Stage;

namespace {

// Two thirds of the calls come in up to six versions, each of which keeps a random head of the one before it, often
// all.
std::vector<Program> random_versions(RandomStream& random, int count) {
  std::vector<Program> programs = llmscape::testing::random_programs(random, count);
  ContentId next = 1'000'000;
  for (Program& program : programs)
    for (Stage& stage : program.stages) {
      if (stage.kind != Stage::Kind::model_call || random.chance(0.33)) continue;
      Seconds at = random.chance(0.3) ? Seconds() : Seconds(random.exponential(0.05));
      Prompt prompt;
      for (std::int64_t left = random.integer(1, 6); left > 0; --left) {
        if (!prompt.empty() && random.chance(0.4))
          prompt = workloads::split(prompt, random.integer(0, tokens_of(prompt))).first;
        if (prompt.empty() || random.chance(0.9)) workloads::append(prompt, {++next, random.integer(1, 80)});
        stage.versions.push_back({at, prompt});
        at += random.chance(0.2) ? Seconds() : Seconds(random.exponential(0.05));
      }
      stage.prompt = prompt;
    }
  return programs;
}

std::shared_ptr<const BatcherPolicy> random_policy(RandomStream& random, std::uint64_t seed, bool swap) {
  if (seed % 5 == 0) {
    auto policy = std::make_shared<VllmV1>();
    policy->enable_prefix_caching = false;
    policy->async_scheduling = random.chance(0.5);
    return policy;
  }
  auto policy = std::make_shared<Streaming>();
  policy->order = std::vector<std::string>{"default", "fcfs", "lcas", "mcps"}[seed % 5 - 1];
  policy->async_scheduling = random.chance(0.5);
  policy->max_num_seqs = random.integer(4, 64);
  policy->max_num_batched_tokens = random.integer(policy->max_num_seqs, 500);
  if (swap) policy->victims = random.chance(0.5) ? Preempted::swap : Preempted::by_cost;
  return policy;
}

}  // namespace

TEST_CASE("streamed prompts: calls, tasks, tokens and KV blocks are conserved (INV-1, 3, 4, 5, 8, 14, 16)") {
  std::int64_t cancelled = 0, timed_out = 0, dropped = 0, preempted = 0, swapped = 0, lost = 0, invalidated = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed);
    SystemConfig config;
    config.gateway.streaming_input = seed % 7 != 0;
    config.kv_blocks = random.integer(30, 120);
    config.max_model_len = random.integer(200, 400);
    config.replicas = 1 + random.below(3);
    const bool swap = random.chance(0.5);
    if (swap) {
      const BytesPerSecond bandwidth(random.uniform() * 1e6 + 1e5);
      const KvSwapConfig memory{random.integer(1, 100), Bytes(1e3), bandwidth, 2 * bandwidth, Seconds(1e-5)};
      config.below = [memory](std::size_t) { return KvBelow{{std::make_shared<KvSwap>(memory)}}; };
    }
    if (random.chance(0.3)) config.gateway.front_end = {Seconds(1e-4), Seconds(1e-6)};
    if (random.chance(0.5)) config.gateway.timeout = Seconds(random.exponential(0.5));
    if (random.chance(0.5)) config.gateway.admission.max_outstanding = random.integer(1, 40);
    if (random.chance(0.3)) {
      const double at = random.exponential(0.5), takes = random.exponential(0.2);
      config.controller = [at, takes] {
        return std::make_unique<Script>(
            std::vector<Script::Act>{{at, [](Fleet& fleet, Seconds now) { fleet.lose(0, false, now); }},
                                     {at + takes, [](Fleet& fleet, Seconds now) { fleet.repair(0, Seconds(), now); }}});
      };
    }
    const auto policy = random_policy(random, seed, swap);
    const std::vector<Program> programs = random_versions(random, 150);
    System system(config, *policy, LeastTokens(), short_steps);
    system.run(programs);  // checks INV-1, INV-4, INV-8 and INV-16

    config.lookahead = 0;
    System step_by_step(config, *policy, LeastTokens(), short_steps);
    step_by_step.run(programs);
    REQUIRE(step_by_step.answers.size() == system.answers.size());
    for (std::size_t i = 0; i < system.answers.size(); ++i) {
      CHECK(system.answers[i].request.id == step_by_step.answers[i].request.id);
      CHECK(system.answers[i].outcome == step_by_step.answers[i].outcome);
      CHECK(system.answers[i].at == step_by_step.answers[i].at);
    }

    const Counters calls = system.gateway().calls().counters();
    CHECK(calls.queued + calls.running + calls.waiting == 0);
    CHECK(static_cast<std::int64_t>(system.answers.size()) == calls.injected);
    std::int64_t emitted = 0, work = 0, replaced = 0;
    for (const auto& answer : system.answers) {
      const Request& r = answer.request;
      emitted += r.emitted + r.lost;
      work += r.prefilled + r.reused;
      replaced += r.invalidated;
      preempted += r.preemptions;
      lost += r.attempt;
      if (answer.outcome != Outcome::completed) continue;
      CHECK(r.complete);
      CHECK(r.emitted == r.output_tokens);
      CHECK(r.prompt_tokens == tokens_of(r.prompt));
      CHECK(r.arrival <= r.context_complete);
      CHECK(r.context_complete < r.first_token);
      CHECK(r.arrival <= r.enqueue);
      CHECK(r.enqueue <= r.schedule);
      CHECK(r.schedule < r.first_token);
      CHECK(r.first_token <= r.last_token);
      const std::int64_t again = r.prefilled + r.reused - r.invalidated - r.prompt_tokens;
      CHECK(again >= 0);
      if (r.preemptions == 0 && r.attempt == 0) CHECK(again == 0);
    }
    std::int64_t engine_emitted = 0, engine_work = 0, engine_replaced = 0;
    for (std::size_t i = 0; i < config.replicas; ++i) {
      const EngineState& state = system.replica(i).state();
      engine_emitted += state.emitted_tokens() - system.replica(i).totals().lost_emitted_tokens;
      engine_work += state.counts.prefilled_tokens + state.counts.reused_tokens;
      engine_replaced += state.counts.invalidated_tokens;
      swapped += state.counts.swaps;
      CHECK(state.kv.pool.used() == 0);
      CHECK(state.running.size() == 0);
      CHECK(state.waiting.empty());
      for (const auto& store : system.replica(i).state().kv.stores())
        CHECK(dynamic_cast<const KvSwap&>(*store).used() == 0);
    }
    CHECK(emitted == engine_emitted);
    CHECK(work == engine_work);
    CHECK(replaced == engine_replaced);
    invalidated += replaced;
    cancelled += calls.cancelled;
    timed_out += calls.timed_out;
    dropped += calls.dropped;
  }
  // The hard cases were really met.
  CHECK(cancelled > 1000);
  CHECK(timed_out > 1000);
  CHECK(dropped > 1000);
  CHECK(preempted > 1000);
  CHECK(swapped > 100);
  CHECK(lost > 100);
  CHECK(invalidated > 10'000);
}
