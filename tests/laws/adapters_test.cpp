// SPDX-License-Identifier: Apache-2.0
// Low-rank adapters in serving: what a step carries, what waits, what is loaded.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "sim/serving/batchers/vllm_v1.hpp"
#include "sim/serving/routers/least_tokens.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/serving_bench.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using serving::AdapterConfig;
using serving::AdapterLaw;
using testing::call;
using testing::System;
using testing::SystemConfig;

namespace {

constexpr double kStep = 0.01, kPerAdapter = 0.001, kLoad = 0.1;

double seconds(const models::Batch& batch) { return kStep + kPerAdapter * static_cast<double>(batch.adapters); }

serving::VllmV1 policy() {
  serving::VllmV1 p;
  p.async_scheduling = false;
  return p;
}

SystemConfig with(std::int64_t adapters, std::int64_t resident) {
  SystemConfig config;
  config.adapters = {std::make_shared<AdapterLaw>(adapters, 0, RandomStreams(1)), resident, Seconds(kLoad)};
  return config;
}

// Calls of 11 tokens, one every `apart` seconds.
struct Served : System {
  Served(const SystemConfig& config, int count, double apart)
      : System(config, policy(), serving::LeastTokens(), seconds) {
    std::vector<workloads::Program> programs;
    for (int i = 0; i < count; ++i) programs.push_back(call(apart * i, {{static_cast<ContentId>(i + 1), 20, 0}}, 11));
    run(std::move(programs));
  }
  [[nodiscard]] double time_of(std::size_t i) const {
    return (answers[i].request.last_token - answers[i].request.arrival).si();
  }
};

}  // namespace

TEST_CASE("one adapter for all is loaded once, by the step that admits its first call") {
  const Served system(with(1, 1), 3, 10);
  CHECK(system.replica().state().running.adapters().loads() == 1);
  CHECK(system.time_of(0) == approx(kLoad + 11 * (kStep + kPerAdapter)));
  CHECK(system.time_of(1) == approx(11 * (kStep + kPerAdapter)));
}

TEST_CASE("calls one after the other load an adapter whenever it is another one, if a single one is resident") {
  const Served system(with(4, 1), 100, 10);
  int changes = 0, last = -1;
  for (const auto& answer : system.answers)
    if (answer.request.sequence.adapter != std::exchange(last, answer.request.sequence.adapter)) ++changes;
  CHECK(system.replica().state().running.adapters().loads() == changes);
  CHECK(changes > 60);  // 3 of 4 in the mean
  CHECK(Served(with(4, 4), 100, 10).replica().state().running.adapters().loads() == 4);
}

TEST_CASE("a step carries the distinct adapters of its calls") {
  const Served system(with(4, 4), 40, 0);
  std::set<int> drawn;
  for (const auto& answer : system.answers) drawn.insert(answer.request.sequence.adapter);
  REQUIRE(drawn.size() == 4);
  // All start at once: four loads with the first step, then ten decodes of all.
  CHECK(system.time_of(39) == approx(4 * kLoad + 11 * (kStep + 4 * kPerAdapter)));
}

TEST_CASE("a call whose adapter does not fit waits until another one is free") {
  const Served system(with(4, 2), 40, 0);
  CHECK(system.gateway().calls().counters().completed == 40);
  // Each step carries two at most.
  std::vector<std::pair<double, int>> starts;
  for (const auto& one : system.answers) {
    std::set<int> beside;
    for (const auto& other : system.answers)
      if (other.request.schedule <= one.request.schedule && other.request.last_token > one.request.schedule)
        beside.insert(other.request.sequence.adapter);
    CHECK(beside.size() <= 2);
  }
  CHECK(system.end > Served(with(4, 4), 40, 0).end);
}

TEST_CASE("adapters follow a call over a KV transfer, and both replicas load them") {
  SystemConfig config = with(4, 4);
  config.replicas = 2;
  config.roles = {serving::Role::prefill, serving::Role::decode};
  const Served system(config, 40, 0.05);
  CHECK(system.gateway().calls().counters().completed == 40);
  for (std::size_t i : {0, 1}) {
    CHECK(system.replica(i).state().running.adapters().loads() == 4);
    CHECK(system.replica(i).state().running.adapters().in_use() == 0);
  }
}
