// SPDX-License-Identifier: Apache-2.0
// The contracts of Router and of the orders of streaming prompts, over every policy in their tables.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"
#include "sim/serving/batchers/streaming_orders.hpp"
#include "tests/support/plain_engine.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::System;

namespace {

std::vector<workloads::Program> load_of_sessions(std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<workloads::Program> programs;
  double at = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    at += random.exponential(0.004);
    Prompt prompt = {{1 + random.below(4), random.integer(16, 200)}, {1000 + i, random.integer(1, 200)}};
    programs.push_back(llmscape::testing::call(at, prompt, random.integer(1, 60)));
    programs.back().session = 1 + random.below(20);
  }
  return programs;
}

}  // namespace

TEST_CASE("every router sends each call to a replica that serves, uses them all, and repeats itself") {
  for (const auto& member : routers().members()) {
    CAPTURE(member.name);
    Diagnostics diagnostics;
    const auto policy = routers().read(YamlNode::scalar(member.name), diagnostics);
    REQUIRE_FALSE(diagnostics.has_errors());
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      CAPTURE(seed);
      std::vector<int> first;
      for (const bool again : {false, true}) {
        llmscape::testing::SystemConfig config;
        config.replicas = 4;
        config.controller = [] {  // replica 2 leaves for a while
          return std::make_unique<llmscape::testing::Script>(std::vector<llmscape::testing::Script::Act>{
              {0.3, [](Fleet& fleet, Seconds now) { fleet.cordon(2, false, now); }},
              {0.9, [](Fleet& fleet, Seconds now) { fleet.repair(2, Seconds(0.1), now); }}});
        };
        System system(config, llmscape::testing::plain_policy(), *policy, llmscape::testing::plain_seconds);
        system.run(load_of_sessions(seed));
        REQUIRE(system.answers.size() == 300);
        std::vector<int> sent(300), count(4);
        for (const auto& answer : system.answers) {
          const Request& request = answer.request;
          CHECK(answer.outcome == Outcome::completed);
          sent[request.id] = request.replica;
          ++count[static_cast<std::size_t>(request.replica)];
          if (request.arrival > Seconds(0.3) && request.arrival < Seconds(0.9)) CHECK(request.replica != 2);
        }
        CHECK(*std::ranges::min_element(count) > 0);
        if (again) CHECK(sent == first);
        first = sent;
      }
    }
  }
}

TEST_CASE("among replicas that are equal in all but their place every router chooses the same, whoever they are") {
  for (const auto& member : routers().members()) {
    CAPTURE(member.name);
    Diagnostics diagnostics;
    const auto policy = routers().read(YamlNode::scalar(member.name), diagnostics);
    std::vector<std::size_t> chosen;
    for (const std::size_t shift : {0u, 7u}) {  // the same engines with other numbers
      llmscape::testing::SystemConfig config;
      config.replicas = 3;
      System idle(config, llmscape::testing::plain_policy(), *policy, llmscape::testing::plain_seconds);
      std::vector<RoutingTarget> targets(3);
      std::vector<RoutingTarget*> pointers;
      for (std::size_t i = 0; i < 3; ++i) {
        targets[i].replica = const_cast<Replica*>(&idle.replica(i));
        targets[i].index = i + shift;
        pointers.push_back(&targets[i]);
      }
      Request request;
      request.prompt = {{1, 100, 0}};
      request.prompt_tokens = 100;
      const auto router = policy->make();
      for (int i = 0; i < 6; ++i) {
        chosen.push_back(router->choose(request, pointers, Seconds(i)));
        CHECK(chosen.back() < 3);
      }
    }
    CHECK(std::equal(chosen.begin(), chosen.begin() + 6, chosen.begin() + 6));
  }
}

TEST_CASE("every order of streaming prompts is strict and total: two requests are never equal, three never in a ring") {
  for (const StreamingOrder& order : streaming_orders()) {
    if (!order.standing) continue;
    CAPTURE(order.name);
    const auto before = [&](const Request& a, const Request& b) { return order.standing(a) < order.standing(b); };
    RandomStream random(5);
    std::vector<Request> requests(40);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      requests[i].id = i;
      requests[i].arrival = Seconds(static_cast<double>(i / 2));
      requests[i].latest_version = requests[i].arrival + Seconds(static_cast<double>(random.below(4)));
      requests[i].complete = random.chance(0.5);
      requests[i].sequence.computed = static_cast<std::int64_t>(random.below(4)) * 100;
    }
    for (const Request& a : requests) {
      CHECK_FALSE(before(a, a));
      for (const Request& b : requests) {
        if (&a == &b) continue;
        CHECK(before(a, b) != before(b, a));
        for (const Request& c : requests)
          if (before(a, b) && before(b, c)) CHECK(before(a, c));
      }
    }
  }
}
