// SPDX-License-Identifier: Apache-2.0
// Devices that several models take in turns.
#include <doctest/doctest.h>

#include "base/random.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/serving_bench.hpp"

namespace turns_test {

using namespace llmscape;
using llmscape::testing::approx;
using serving::Outcome;
using serving::Pool;
using testing::call;
using testing::System;
using testing::SystemConfig;

namespace {

constexpr double kStep = 0.01;   // of every step
constexpr double kSwitch = 0.3;  // to bring in a model's weights

double seconds(const models::Batch&) { return kStep; }

serving::VllmV1 policy(bool async = false) {
  serving::VllmV1 p;
  p.max_num_batched_tokens = 8192;
  p.max_num_seqs = 64;
  p.async_scheduling = async;
  p.enable_prefix_caching = false;
  return p;
}

workloads::Program of_model(int model, double start, std::int64_t output) {
  auto program =
      call(start, {{static_cast<std::uint64_t>(1000 * start) + static_cast<std::uint64_t>(model) + 1, 100, 0}}, output);
  program.stages[0].model = model;
  return program;
}

// Replica i serves model i; all stand on the same devices.
SystemConfig sharing(std::size_t models, double least_hold, std::size_t resident = 1) {
  SystemConfig config;
  config.replicas = models;
  config.turns = std::make_shared<serving::DeviceTurns>(Seconds(least_hold), resident);
  config.load = Seconds(kSwitch);
  config.shape_pools = [](std::vector<Pool>& pools) {
    const std::vector<serving::Replica*> all = pools[0].replicas;
    pools[0].replicas = {all[0]};
    for (std::size_t i = 1; i < all.size(); ++i) {
      Pool& pool = pools.emplace_back();
      pool.router = serving::LeastTokens().make();
      pool.replicas = {all[i]};
      pool.model = static_cast<int>(i);
    }
  };
  return config;
}

double first(const System& system, std::uint64_t id) {
  for (const auto& answer : system.answers)
    if (answer.request.id == id) return answer.request.first_token.si();
  return -1;
}
double last(const System& system, std::uint64_t id) {
  for (const auto& answer : system.answers)
    if (answer.request.id == id) return answer.request.last_token.si();
  return -1;
}

}  // namespace

TEST_CASE("another model's call waits for its weights, or for the calls before it and its weights") {
  SystemConfig config = sharing(2, 1e9);
  System idle(config, policy(), serving::LeastTokens(), seconds);
  idle.run({of_model(1, 1, 1)});
  CHECK(first(idle, 0) == approx(1 + kSwitch + kStep));
  CHECK(config.turns->loads(idle.replica(1)) == 1);
  CHECK(config.turns->loading(idle.replica(1)).si() == approx(kSwitch));

  config = sharing(2, 1e9);
  System busy(config, policy(), serving::LeastTokens(), seconds);
  busy.run({of_model(0, 0, 20), of_model(1, 0.05, 10), of_model(0, 0.105, 1)});
  CHECK(last(busy, 0) == approx(20 * kStep));
  CHECK(first(busy, 1) == approx(20 * kStep + kSwitch + kStep));
  CHECK(first(busy, 2) == approx(0.11 + kStep));  // its model still held the devices
}

TEST_CASE("who has held the devices long enough gives them up after a step, and goes on later where it stopped") {
  SystemConfig config = sharing(2, 0.05);
  System system(config, policy(), serving::LeastTokens(), seconds);
  system.run({of_model(0, 0, 10), of_model(1, 0.001, 3)});
  // 5 steps of 0, a switch, 3 steps of 1, a switch, 5 steps of 0.
  CHECK(first(system, 1) == approx(5 * kStep + kSwitch + kStep));
  CHECK(last(system, 1) == approx(8 * kStep + kSwitch));
  CHECK(last(system, 0) == approx(13 * kStep + 2 * kSwitch));
  CHECK(config.turns->loads(system.replica(0)) == 1);
  CHECK(config.turns->loads(system.replica(1)) == 1);
}

TEST_CASE("models that are resident run at once; of three, the one that ran longest ago has left") {
  SystemConfig config = sharing(3, 0, 2);
  System system(config, policy(), serving::LeastTokens(), seconds);
  system.run({of_model(0, 1, 1), of_model(1, 2, 1), of_model(2, 3, 1), of_model(1, 4, 1), of_model(0, 5, 1)});
  CHECK(first(system, 0) == approx(1 + kStep));
  CHECK(first(system, 1) == approx(2 + kStep));            // there from the beginning
  CHECK(first(system, 2) == approx(3 + kSwitch + kStep));  // in place of 0
  CHECK(first(system, 3) == approx(4 + kStep));
  CHECK(first(system, 4) == approx(5 + kSwitch + kStep));
}

TEST_CASE("when all models are lost, who runs first after that has its weights from its own start") {
  const auto lose = [](serving::Fleet& fleet, Seconds now) {
    for (const std::size_t replica : {0, 1}) fleet.lose(replica, false, now);
  };
  const auto repair = [](serving::Fleet& fleet, Seconds now) {
    for (const std::size_t replica : {0, 1}) fleet.repair(replica, Seconds(1), now);
  };
  const auto faulty = [&](double at, double lasts) {
    SystemConfig config = sharing(2, 1e9);
    config.controller = [=] {
      return std::make_unique<testing::Script>(std::vector<testing::Script::Act>{{at, lose}, {at + lasts, repair}});
    };
    return config;
  };
  SystemConfig config = faulty(2, 1);  // serve again at 4
  System idle(config, policy(), serving::LeastTokens(), seconds);
  idle.run({of_model(1, 1, 1), of_model(0, 3.5, 1), of_model(1, 5, 1)});
  CHECK(first(idle, 1) == approx(4 + kStep));
  CHECK(first(idle, 2) == approx(5 + kSwitch + kStep));
  CHECK(config.turns->loads(idle.replica(0)) == 0);
  CHECK(config.turns->loads(idle.replica(1)) == 2);

  config = faulty(1.1, 0.9);  // 0.1 s into a load; serve again at 3
  System loading(config, policy(), serving::LeastTokens(), seconds);
  loading.run({of_model(1, 1, 1), of_model(0, 4, 1)});
  CHECK(first(loading, 0) == approx(3 + kStep));
  CHECK(first(loading, 1) == approx(4 + kSwitch + kStep));
  CHECK(config.turns->loads(loading.replica(1)) == 1);
  CHECK(config.turns->loading(loading.replica(1)).si() == approx(0.1));

  config = faulty(0.1, 0.9);  // one runs and the other one waits: its turn comes as it is lost; serve again at 2
  System waiting(config, policy(), serving::LeastTokens(), seconds);
  waiting.run({of_model(0, 0, 20), of_model(1, 0.05, 1)});
  CHECK(config.turns->loads(waiting.replica(0)) + config.turns->loads(waiting.replica(1)) == 1);
  CHECK(std::max(last(waiting, 0), last(waiting, 1)) == approx(2 + 21 * kStep + kSwitch));
}

TEST_CASE("adapters leave with their model's weights; one that is in use comes back before the next step") {
  constexpr double kAdapter = 0.1;
  const auto with_adapter = [](double least_hold) {
    SystemConfig config = sharing(2, least_hold);
    config.adapters = {std::make_shared<serving::AdapterLaw>(1, 0, RandomStreams(1)), 1, Seconds(kAdapter)};
    return config;
  };
  System idle(with_adapter(1e9), policy(), serving::LeastTokens(), seconds);
  idle.run({of_model(0, 1, 1), of_model(0, 2, 1), of_model(1, 3, 1), of_model(0, 4, 1)});
  CHECK(first(idle, 0) == approx(1 + kAdapter + kStep));
  CHECK(first(idle, 1) == approx(2 + kStep));
  CHECK(first(idle, 2) == approx(3 + kSwitch + kAdapter + kStep));
  CHECK(first(idle, 3) == approx(4 + kSwitch + kAdapter + kStep));
  CHECK(idle.replica(0).state().running.adapters().loads() == 2);

  // 5 steps of 0 in 0.15 s, a switch, 3 steps of 1, a switch, 5 steps of 0: three loads of an adapter.
  System held(with_adapter(0.145), policy(), serving::LeastTokens(), seconds);
  held.run({of_model(0, 0, 10), of_model(1, 0.001, 3)});
  CHECK(last(held, 1) == approx(8 * kStep + kSwitch + 2 * kAdapter));
  CHECK(last(held, 0) == approx(13 * kStep + 2 * kSwitch + 3 * kAdapter));
  CHECK(held.replica(0).state().running.adapters().loads() == 2);
  CHECK(held.replica(0).totals().adapter_loading.si() == approx(2 * kAdapter));
}

TEST_CASE("whatever comes, turns lose no call, no two models run at once, and lookahead changes nothing") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed);
    const std::size_t models = 2 + random.below(3);
    const double least_hold = random.chance(0.3) ? 0 : random.exponential(0.1);
    const std::size_t resident = 1 + random.below(2);
    const bool async = random.chance(0.5);
    std::vector<workloads::Program> programs;
    double at = 0;
    for (int i = 0; i < 80; ++i) {
      at += random.exponential(0.05);
      programs.push_back(of_model(static_cast<int>(random.below(models)), at, random.integer(1, 40)));
      if (random.chance(0.2)) programs.back().stages[0].give_up = Seconds(random.exponential(0.3));
    }
    std::vector<testing::Answer> answers[2];
    for (const bool ahead : {true, false}) {
      SystemConfig config = sharing(models, least_hold, resident);
      config.lookahead = ahead ? 64 : 0;
      if (seed % 2 == 0)
        config.adapters = {std::make_shared<serving::AdapterLaw>(3, 0, RandomStreams(seed)), 2, Seconds(0.03)};
      System system(config, policy(async), serving::LeastTokens(), seconds);
      system.run(programs);
      answers[ahead] = system.answers;
      auto steps = system.steps;
      std::ranges::sort(steps, {}, &testing::Step::start);
      for (std::size_t i = 1; i < steps.size(); ++i)
        if (steps[i].replica != steps[i - 1].replica) CHECK(steps[i].start >= steps[i - 1].end);
    }
    REQUIRE(answers[0].size() == programs.size());
    for (std::size_t i = 0; i < answers[0].size(); ++i) {
      CHECK(answers[0][i].request.id == answers[1][i].request.id);
      CHECK(answers[0][i].outcome == answers[1][i].outcome);
      CHECK(answers[0][i].at == answers[1][i].at);
    }
  }
}

}  // namespace turns_test
