// SPDX-License-Identifier: Apache-2.0
// The contracts of Router and of the orders of streaming prompts, over every policy in their tables.
#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>

#include "base/random.hpp"
#include "sim/serving/batchers/streaming_orders.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"
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

TEST_CASE(
    "under load, with prompts that come, are shared and are evicted, it chooses as one that looks at every replica") {
  struct Both : Router {  // the second is told of nothing
    Both(const RouterPolicy& policy, int& choices) : told(policy.make()), looking(policy.make()), count(choices) {}
    std::size_t choose(const Request& request, const std::vector<RoutingTarget*>& targets, Seconds now) override {
      ++count;
      const std::size_t chosen = told->choose(request, targets, now);
      CHECK(chosen == looking->choose(request, targets, now));
      return chosen;
    }
    void on_targets(const std::vector<RoutingTarget*>& targets) override { told->on_targets(targets); }
    void on_charge(const RoutingTarget& target) override { told->on_charge(target); }
    std::unique_ptr<Router> told, looking;
    int& count;
  };
  struct BothPolicy : RouterPolicy {
    BothPolicy(const RouterPolicy& of, int& choices) : policy(of), count(choices) {}
    [[nodiscard]] std::unique_ptr<Router> make() const override { return std::make_unique<Both>(policy, count); }
    const RouterPolicy& policy;
    int& count;
  };
  for (const char* text :
       {"least_tokens", "vllm_data_parallel", "{policy: prefix_affinity, load_weight: 0}",
        "{policy: prefix_affinity, load_weight: 0.3}", "{policy: prefix_affinity, load_weight: 1}"}) {
    CAPTURE(text);
    Diagnostics diagnostics;
    const auto source = std::make_shared<const SourceText>(SourceText{"router", text});
    const auto policy = routers().read(read_yaml(source, diagnostics), diagnostics);
    REQUIRE_FALSE(diagnostics.has_errors());
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      int choices = 0;
      llmscape::testing::SystemConfig config;
      config.replicas = 5;
      config.kv_blocks = 60;
      config.controller = [] {  // replica 2 leaves for a while, and 3 is lost
        return std::make_unique<llmscape::testing::Script>(std::vector<llmscape::testing::Script::Act>{
            {0.3, [](Fleet& fleet, Seconds now) { fleet.cordon(2, false, now); }},
            {0.5, [](Fleet& fleet, Seconds now) { fleet.lose(3, true, now); }},
            {0.9, [](Fleet& fleet, Seconds now) { fleet.repair(2, Seconds(0.1), now); }}});
      };
      System system(config, VllmV1(), BothPolicy(*policy, choices), llmscape::testing::plain_seconds);
      system.run(load_of_sessions(seed));
      CHECK(choices >= 300);
    }
  }
}

TEST_CASE("a router that keeps an order, told of all that changes, chooses as one that looks at every replica") {
  for (const auto& member : routers().members()) {
    CAPTURE(member.name);
    Diagnostics diagnostics;
    const auto policy = routers().read(YamlNode::scalar(member.name), diagnostics);
    llmscape::testing::SystemConfig config;
    config.replicas = 6;
    System idle(config, llmscape::testing::plain_policy(), *policy, llmscape::testing::plain_seconds);
    std::vector<RoutingTarget> all(6);
    for (std::size_t i = 0; i < 6; ++i) all[i] = {const_cast<Replica*>(&idle.replica(i)), i};
    std::vector<RoutingTarget*> serving;
    const auto told = policy->make(), looking = policy->make();
    RandomStream random(3);
    Request request;
    request.prompt = {{1, 100, 0}};
    request.prompt_tokens = 100;
    for (int i = 0; i < 2000; ++i) {
      if (i % 100 == 0) {  // others serve now
        serving.clear();
        for (RoutingTarget& target : all)
          if (random.chance(0.7) || target.index == 5) serving.push_back(&target);
        told->on_targets(serving);
      }
      const Seconds now(0.013 * i);
      std::vector<std::size_t> standings;
      for (const RoutingTarget* target : serving) standings.push_back(told->standing(*target, 0));
      CHECK(std::ranges::max(standings) < kStandings);
      const std::size_t chosen = told->choose(request, serving, now);
      REQUIRE(chosen == looking->choose(request, serving, now));
      CHECK(standings[chosen] == 0);  // it does get the next call
      RoutingTarget& charged = random.chance(0.5) ? *serving[chosen] : all[random.below(6)];
      const std::int64_t calls = charged.outstanding_requests > 2 ? -1 : 1;
      charged.outstanding_requests += calls;
      charged.outstanding_tokens += 100 * calls;
      told->on_charge(charged);
    }
  }
}

TEST_CASE(
    "with the fewest outstanding tokens, or once its own calls have left, a replica stands first; else by calls") {
  Diagnostics diagnostics;
  const auto policy = routers().read(YamlNode::scalar("least_tokens"), diagnostics);
  const auto router = policy->make();
  // Requests and tokens outstanding. Behind the first by 0, 100, 300, 500 and 1,400 tokens, that is 0, 0.18, 0.46, 0.67
  // and 1.75 mean calls: 0, 0, 1, 2 and 7 whole quarters.
  std::vector<RoutingTarget> all(5);
  const std::vector<std::pair<std::int64_t, std::int64_t>> outstanding = {
      {2, 1000}, {2, 1100}, {2, 1300}, {2, 1500}, {3, 2400}};
  std::vector<RoutingTarget*> serving;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].index = i;
    std::tie(all[i].outstanding_requests, all[i].outstanding_tokens) = outstanding[i];
    serving.push_back(&all[i]);
  }
  CHECK(router->standing(all[4], 0) == 0);  // not told of any
  router->on_targets(serving);
  for (const std::size_t i : {0u, 1u, 2u, 3u, 4u}) CHECK(router->standing(all[i], 0) == i);
  CHECK(router->standing(all[3], 300) == 2);  // 200 behind: 0.27 calls
  CHECK(router->standing(all[2], 300) == 0);
  router->on_targets({&all[4]});
  CHECK(router->standing(all[4], 0) == 0);  // alone
  CHECK(router->standing(all[0], 0) == 0);  // it serves no more
}

TEST_CASE("in turn, a replica stands by the turns before its own, of those that serve") {
  Diagnostics diagnostics;
  const auto policy = routers().read(YamlNode::scalar("round_robin"), diagnostics);
  const auto router = policy->make();
  std::vector<RoutingTarget> all(10);
  std::vector<RoutingTarget*> serving;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].index = i;
    if (i != 1) serving.push_back(&all[i]);
  }
  router->on_targets(serving);
  const auto standings = [&] {
    std::vector<std::size_t> some;
    for (const RoutingTarget& target : all) some.push_back(router->standing(target, 0));
    return some;
  };
  // Turns before its own: 0, -, 1, 2, ..., 8; the second does not serve.
  CHECK(standings() == std::vector<std::size_t>{0, 0, 1, 2, 2, 3, 3, 3, 3, 4});
  CHECK(router->choose({}, serving, Seconds(0)) == 0);
  CHECK(router->choose({}, serving, Seconds(1)) == 1);  // the third
  // 7, -, 8, 0, 1, ..., 6.
  CHECK(standings() == std::vector<std::size_t>{3, 0, 4, 0, 1, 2, 2, 3, 3, 3});
  while (router->choose({}, serving, Seconds(2)) != 8) continue;
  CHECK(standings() == std::vector<std::size_t>{0, 0, 1, 2, 2, 3, 3, 3, 3, 4});  // behind the last comes the first
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
