// SPDX-License-Identifier: Apache-2.0
// The contract of Batcher, over every policy in the table.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/random.hpp"
#include "sim/serving/batchers/streaming.hpp"
#include "sim/serving/batchers/streaming_orders.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"
#include "sim/serving/routers/round_robin.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/serving_bench.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::approx;
using llmscape::testing::System;
using llmscape::testing::SystemConfig;

namespace {

// Every policy with its defaults, read as from a scenario.
std::vector<std::pair<std::string, std::shared_ptr<const BatcherPolicy>>> all_policies() {
  std::vector<std::pair<std::string, std::shared_ptr<const BatcherPolicy>>> policies;
  for (const auto& member : batchers().members()) {
    Diagnostics diagnostics;
    policies.emplace_back(member.name, batchers().read(YamlNode::scalar(member.name), diagnostics));
    REQUIRE_FALSE(diagnostics.has_errors());
  }
  return policies;
}

double milliseconds(const models::Batch& batch) {
  return 1e-3 * (1 + 0.01 * static_cast<double>(batch.tokens()) +
                 1e-5 * static_cast<double>(batch.decodes > 0 ? batch.attended[0].sum : 0));
}

std::vector<workloads::Program> random_load(std::uint64_t seed, int requests, bool shared) {
  RandomStream random(seed);
  std::vector<workloads::Program> programs;
  double at = 0;
  for (int i = 0; i < requests; ++i) {
    at += random.exponential(0.01);
    Prompt prompt;
    if (shared && random.chance(0.7)) prompt.push_back({1 + random.below(3), random.integer(1, 200)});
    prompt.push_back({1000 + static_cast<std::uint64_t>(i), random.integer(1, 300)});
    programs.push_back(llmscape::testing::call(at, prompt, random.integer(1, 80)));
  }
  return programs;
}

}  // namespace

TEST_CASE("every policy answers every request, in causal order, within its limits and the pool") {
  for (const auto& [name, policy] : all_policies()) {
    std::int64_t preemptions = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      CAPTURE(name);
      CAPTURE(seed);
      SystemConfig config;
      config.kv_blocks = 64;  // small: preemptions and blocked heads happen
      System system(config, *policy, RoundRobin(), milliseconds);
      system.run(random_load(seed, 200, true));
      REQUIRE(system.answers.size() == 200);
      std::int64_t emitted = 0;
      for (const auto& answer : system.answers) {
        const Request& r = answer.request;
        CHECK(answer.outcome == Outcome::completed);
        CHECK(r.emitted == r.output_tokens);
        CHECK(r.arrival <= r.enqueue);
        CHECK(r.enqueue <= r.schedule);
        CHECK(r.schedule < r.first_token);
        CHECK(r.first_token <= r.last_token);
        // No token is computed twice except after a preemption.
        if (r.preemptions == 0) CHECK(r.prefilled + r.reused == r.prompt_tokens);
        emitted += r.emitted;
      }
      std::int64_t gaps = 0;
      for (const auto& [gap, count] : system.gaps) {
        CHECK(gap > 0);
        gaps += count;
      }
      CHECK(gaps == emitted - 200);  // every token but the first of each request has a gap before it
      for (const auto& step : system.steps) {
        CHECK(step.decodes <= policy->max_sequences());
        CHECK(step.decodes + step.prefill_tokens <= policy->max_tokens() + policy->max_sequences());
        CHECK(step.kv_used <= config.kv_blocks);
      }
      CHECK(system.replica().state().kv.pool.used() == 0);
      preemptions += system.replica().state().counts.preemptions;
    }
    CHECK((preemptions > 0) == policy->kv_grows());  // the hard case was really met
  }
}

TEST_CASE("equals are admitted in order of arrival") {
  for (const auto& [name, policy] : all_policies()) {
    CAPTURE(name);
    System system({}, *policy, RoundRobin(), milliseconds);
    system.run(random_load(3, 150, false));
    std::map<std::uint64_t, Seconds> schedule;
    for (const auto& answer : system.answers) schedule[answer.request.id] = answer.request.schedule;
    Seconds last;
    for (const auto& [id, at] : schedule) {
      CHECK(at >= last);
      last = at;
    }
  }
}

TEST_CASE("a request alone takes one step for its prompt and one for each further token, under every policy") {
  for (const auto& [name, policy] : all_policies()) {
    CAPTURE(name);
    System system({}, *policy, RoundRobin(), milliseconds);
    system.run({llmscape::testing::call(1.0, {{7, 100}}, 20)});
    CHECK(system.steps.size() == 20);
    CHECK(system.steps[0].prefill_tokens == 100);
    const Request& r = system.answers[0].request;
    CHECK(r.first_token.si() == approx(1.002));  // 1 ms + 100 x 0.01 ms
  }
}

TEST_CASE("steps planned ahead of the clock change nothing (INV-14)") {
  for (const auto& [name, policy] : all_policies()) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      CAPTURE(name);
      CAPTURE(seed);
      SystemConfig config;
      config.kv_blocks = 90;
      config.replicas = 2;
      config.kv_laws = {0, 64};
      config.lookahead = 0;
      System plain(config, *policy, RoundRobin(), milliseconds);
      plain.run(random_load(seed, 300, true));
      config.lookahead = 64;
      System ahead(config, *policy, RoundRobin(), milliseconds);
      ahead.run(random_load(seed, 300, true));
      REQUIRE(plain.answers.size() == ahead.answers.size());
      for (std::size_t i = 0; i < plain.answers.size(); ++i) {
        CHECK(plain.answers[i].request.id == ahead.answers[i].request.id);
        CHECK(plain.answers[i].at == ahead.answers[i].at);  // to the last bit
        CHECK(plain.answers[i].request.first_token == ahead.answers[i].request.first_token);
      }
      CHECK(plain.steps.size() == ahead.steps.size());
      CHECK(plain.end == ahead.end);
    }
  }
}

TEST_CASE("what a step costs the simulator does not grow with the batch") {
  const auto work_per_step = [](std::int64_t batch) {
    VllmV1 policy;
    policy.max_num_seqs = 2048;
    policy.max_num_batched_tokens = 1 << 20;
    SystemConfig config;
    config.kv_blocks = 1 << 20;
    config.lookahead = 0;
    System system(config, policy, RoundRobin(), milliseconds);
    std::vector<workloads::Program> programs;
    for (std::int64_t i = 0; i < batch; ++i)
      programs.push_back(llmscape::testing::call(0, {{static_cast<ContentId>(i + 1), 10}}, 2001));
    system.run(std::move(programs));
    CHECK(system.steps.size() >= 2001);
    // Joining and leaving cost each request a fixed number of touches; what is left is the cost of steps.
    return static_cast<double>(system.replica().work()) - 10.0 * static_cast<double>(batch);
  };
  CHECK(work_per_step(16) <= 0);
  CHECK(work_per_step(1024) <= 0);  // 2 million sequence-steps
}

TEST_CASE("what a call costs the simulator does not grow with those that wait, under every policy and order") {
  auto policies = all_policies();
  for (const StreamingOrder& order : streaming_orders()) {
    Streaming policy;
    policy.order = order.name;
    policies.emplace_back("streaming, " + std::string(order.name), std::make_shared<Streaming>(policy));
  }
  for (const auto& [name, policy] : policies) {
    CAPTURE(name);
    // All at once, of two priorities in turns, and a pool of 40 calls.
    const auto work_per_call = [&policy](std::int64_t calls) {
      SystemConfig config;
      config.kv_blocks = 400;
      System system(config, *policy, RoundRobin(), milliseconds);
      system.keep_steps = false;
      std::vector<workloads::Program> programs;
      for (std::int64_t i = 0; i < calls; ++i)
        programs.push_back(llmscape::testing::call(0, {{static_cast<ContentId>(i + 1), 150}}, 4, i % 2 == 0 ? 0 : 5));
      system.run(std::move(programs));
      return static_cast<double>(system.replica().work()) / static_cast<double>(calls);
    };
    CHECK(work_per_call(2000) <= 1.05 * work_per_call(500));
  }
}
