// SPDX-License-Identifier: Apache-2.0
// Random fleets under random faults: pools of several roles and models, links that break, replicas that come, go,
// change their role and are lost. Every call is answered or has failed with a reason, and the books balance.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "sim/serving/controllers/autoscale.hpp"
#include "sim/serving/controllers/balance.hpp"
#include "sim/serving/controllers/convert.hpp"
#include "sim/serving/controllers/drain.hpp"
#include "sim/serving/controllers/fault_injector.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/random_programs.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::System;
using llmscape::testing::SystemConfig;

namespace {

constexpr int kPrograms = 80;
constexpr double kLasts = 3;  // seconds in which something may happen: longer than the programs arrive

Seconds some_time(RandomStream& random) { return Seconds(random.uniform() * kLasts); }

// One random scenario: how it runs follows from the seed.
class Soak {
 public:
  explicit Soak(std::uint64_t seed) : random_(seed) {
    Diagnostics readable;
    const auto& batcher = batchers().members()[random_.below(batchers().members().size())];
    const auto& router = routers().members()[random_.below(routers().members().size())];
    batcher_ = batchers().read(YamlNode::scalar(batcher.name), readable);
    router_ = routers().read(YamlNode::scalar(router.name), readable);
    lay_out_pools();
    choose_limits();
    choose_controllers();
    choose_faults();
    programs_ = testing::random_programs(random_, kPrograms, models_);
  }

  std::unique_ptr<System> run(std::int64_t lookahead) {
    config_.lookahead = lookahead;
    auto system = std::make_unique<System>(config_, *batcher_, *router_, llmscape::testing::short_steps);
    system->run(programs_);  // checks INV-1, INV-4 and INV-8
    return system;
  }

  [[nodiscard]] std::size_t replicas() const { return config_.replicas; }
  [[nodiscard]] std::size_t pools() const { return plan_.pools.size(); }

 private:
  void add_pool(Role role, int model) {
    plan_.pools.push_back({"pool " + std::to_string(plan_.pools.size()), model, role, ""});
    for (std::int64_t i = random_.integer(1, 4); i > 0; --i) {
      plan_.replicas.push_back({plan_.pools.size() - 1, "group " + std::to_string(plan_.pools.size() - 1), 0, 1,
                                Seconds(random_.exponential(0.3))});
      config_.roles.push_back(role);
    }
  }

  // A pool that does everything, or prefill and decode pools, or both, for one model or a model each.
  void lay_out_pools() {
    const bool whole = random_.chance(0.7), handing_over = !whole || random_.chance(0.6);
    models_ = whole && handing_over && random_.chance(0.5) ? 2 : 1;
    if (whole) add_pool(Role::any, 0);
    if (handing_over) {
      prefill_ = plan_.pools.size();
      add_pool(Role::prefill, models_ - 1);
      add_pool(Role::decode, models_ - 1);
    }
    config_.replicas = plan_.replicas.size();
    if (whole && models_ == 1 && random_.chance(handing_over ? 0.5 : 0.2)) longest_ = random_.integer(50, 200);
    config_.shape_pools = [this](std::vector<Pool>& pools) {
      for (std::size_t i = 0; i < pools.size(); ++i) {
        pools[i].model = plan_.pools[i].model;
        for (const auto& policy : policies_) pools[i].off += policy->off_at_first(plan_, i);
      }
      if (longest_) pools[0].accepts.up_to = *longest_;
    };
  }

  void choose_limits() {
    config_.kv_blocks = random_.integer(40, 120);
    config_.max_model_len = random_.integer(200, 500);
    config_.kv_laws = {0, 50};
    config_.link_bandwidth = random_.chance(0.5) ? 1e8 : 2e5;
    GatewayConfig& gateway = config_.gateway;
    gateway.retries = random_.integer(0, 4);
    gateway.retrieval_servers = random_.integer(0, 2);
    gateway.move_by_layer = random_.chance(0.5);
    gateway.placement = random_.chance(0.5) ? Placement::in_order : Placement::least_loaded;
    if (random_.chance(0.4)) gateway.timeout = Seconds(random_.exponential(1));
    if (random_.chance(0.5)) gateway.admission.max_outstanding = random_.integer(1, 40);
    if (gateway.admission.max_outstanding && random_.chance(0.5))
      gateway.admission.max_waiting = random_.integer(0, 20);
    if (random_.chance(0.3)) gateway.front_end = {Seconds(1e-3), Seconds(1e-6)};
  }

  void choose_controllers() {
    const std::size_t pool = random_.below(pools());
    if (random_.chance(0.6)) {
      auto policy = std::make_shared<Autoscale>();
      policy->pool = plan_.pools[pool].name;
      policy->min = random_.integer(0, 1);
      policy->up_at = 1 + random_.uniform() * 6;
      policy->down_at = policy->up_at * random_.uniform();
      policy->interval = Seconds(0.01 + random_.exponential(0.2));
      if (random_.chance(0.3)) policy->down_cooldown = Seconds(random_.exponential(0.5));
      if (random_.chance(0.3) && plan_.pools[pool].role != Role::decode) {
        policy->by = Autoscale::By::slo;
        policy->up_at = 0.2;
        policy->down_at = 0.05;
        policy->ttft = Seconds(0.1);
        policy->window = Seconds(0.5);
      }
      policies_.push_back(policy);
    }
    if (prefill_ && random_.chance(0.5)) {
      auto policy = std::make_shared<Balance>();
      policy->between = {{plan_.pools[*prefill_].name, 3, 1}, {plan_.pools[*prefill_ + 1].name, 3, 1}};
      policy->interval = Seconds(0.05 + random_.exponential(0.1));
      policy->takes = Seconds(random_.exponential(0.1));
      policies_.push_back(policy);
    }
    if (prefill_ && random_.chance(0.4)) {
      auto policy = std::make_shared<Convert>();
      policy->at = some_time(random_);
      policy->from = plan_.pools[*prefill_].name;
      policy->to = plan_.pools[*prefill_ + 1].name;
      policy->takes = Seconds(random_.exponential(0.1));
      if (policy->problems(plan_).empty()) policies_.push_back(policy);
    }
    if (random_.chance(0.4)) {
      auto policy = std::make_shared<Drain>();
      policy->at = some_time(random_);
      if (random_.chance(0.8)) policy->lasts = Seconds(random_.exponential(0.5));
      policy->group = plan_.replicas[random_.below(replicas())].group;
      policies_.push_back(policy);
    }
    for (const auto& policy : policies_) {
      REQUIRE(policy->problems(plan_).empty());
      config_.more_controllers.emplace_back([this, policy] { return policy->make(plan_); });
    }
  }

  void choose_faults() {
    for (std::int64_t i = random_.integer(0, 4); i > 0; --i) {
      Fault& fault = faults_.emplace_back();
      fault.at = some_time(random_);
      if (random_.chance(0.8)) fault.lasts = Seconds(random_.exponential(0.5));
      for (std::size_t replica = 0; replica < replicas(); ++replica)
        if (random_.chance(0.4)) fault.replicas.push_back(replica);
    }
    if (random_.chance(0.4))
      for (std::size_t replica = 0; replica < replicas(); ++replica)
        devices_.push_back({Seconds(1), Seconds(0.1), RandomStream(random_.bits()), {replica}});
    config_.controller = [this] { return std::make_unique<FaultInjector>(faults_, devices_, plan_); };
    for (std::int64_t i = random_.integer(0, 3); i > 0; --i) {
      const double at = some_time(random_).si(), slower = random_.chance(0.5) ? 0 : 0.1;
      const std::size_t link = random_.below(2 * replicas());
      config_.link_changes.push_back({at, link, slower * config_.link_bandwidth});
      config_.link_changes.push_back({at + random_.exponential(0.5), link, config_.link_bandwidth});
    }
    std::ranges::stable_sort(config_.link_changes, {}, &SystemConfig::LinkChange::at);
  }

  RandomStream random_;
  std::shared_ptr<const BatcherPolicy> batcher_;
  std::shared_ptr<const RouterPolicy> router_;
  FleetPlan plan_;
  int models_ = 1;
  std::optional<std::size_t> prefill_;
  std::optional<std::int64_t> longest_;
  SystemConfig config_;
  std::vector<std::shared_ptr<const ControllerPolicy>> policies_;
  std::vector<Fault> faults_;
  std::vector<FailingDevice> devices_;
  std::vector<workloads::Program> programs_;
};

// What was seen of all soaks: that the hard cases were met.
struct Seen {
  std::array<std::int64_t, 5> outcomes{};
  std::array<std::int64_t, kReasons> reasons{};
  std::int64_t retried = 0, starts = 0, drains = 0, conversions = 0, losses = 0;
};

void check_books(const System& system, std::size_t replicas) {
  std::int64_t emitted = 0, work = 0;
  for (const auto& answer : system.answers) {
    const Request& r = answer.request;
    emitted += r.emitted + r.lost;
    work += r.prefilled + r.reused;
    const bool explained = answer.outcome == Outcome::dropped || answer.outcome == Outcome::failed;
    CHECK(explained == (r.reason != Reason::none));
    if (answer.outcome != Outcome::completed) continue;
    CHECK(r.emitted == r.output_tokens);
    CHECK(r.arrival <= r.enqueue);
    CHECK(r.enqueue <= r.schedule);
    CHECK(r.schedule <= r.first_token);
    CHECK(r.first_token <= r.last_token);
    CHECK(r.prefilled + r.reused >= r.prompt_tokens);
  }
  std::int64_t engine_emitted = 0, engine_work = 0;
  for (std::size_t i = 0; i < replicas; ++i) {
    const EngineState& state = system.replica(i).state();
    engine_emitted += state.emitted_tokens() - system.replica(i).totals().lost_emitted_tokens;
    engine_work += state.counts.prefilled_tokens + state.counts.reused_tokens;
    // At most what a message that came with the last answer will drop.
    CHECK((state.running.size() == 0 || system.replica(i).next_event() <= system.end));
    CHECK(state.waiting.empty());
    CHECK(system.replica(i).totals().busy <= system.gateway().fleet().provisioned(i).time(system.end) * (1 + 1e-9));
  }
  CHECK(emitted == engine_emitted);
  CHECK(work == engine_work);
}

void soak(std::uint64_t seed, Seen& seen) {
  CAPTURE(seed);
  Soak soak(seed);
  const auto system = soak.run(64), step_by_step = soak.run(0);
  const Counters calls = system->gateway().calls().counters();
  CHECK(calls.queued + calls.running + calls.waiting == 0);
  CHECK(system->gateway().programs().counters().injected == kPrograms);
  REQUIRE(static_cast<std::int64_t>(system->answers.size()) == calls.injected);
  check_books(*system, soak.replicas());
  REQUIRE(step_by_step->answers.size() == system->answers.size());
  for (std::size_t i = 0; i < system->answers.size(); ++i) {
    const auto &a = system->answers[i], &b = step_by_step->answers[i];
    CHECK(a.request.id == b.request.id);
    CHECK(a.outcome == b.outcome);
    CHECK(a.at == b.at);
    CHECK(a.request.reason == b.request.reason);
    CHECK(a.request.attempt == b.request.attempt);
    CHECK(a.request.replica == b.request.replica);
  }
  for (std::size_t i = 0; i < soak.replicas(); ++i) {
    CHECK(system->replica(i).totals().busy == step_by_step->replica(i).totals().busy);
    CHECK(system->gateway().fleet().provisioned(i).time(system->end) ==
          step_by_step->gateway().fleet().provisioned(i).time(step_by_step->end));
  }
  for (const auto& answer : system->answers) {
    ++seen.outcomes[static_cast<std::size_t>(answer.outcome)];
    ++seen.reasons[static_cast<std::size_t>(answer.request.reason)];
  }
  seen.retried += system->gateway().retried();
  for (std::size_t pool = 0; pool < soak.pools(); ++pool) {
    const PoolHistory history = system->gateway().fleet().history(pool, system->end);
    seen.starts += history.starts;
    seen.drains += history.drains;
    seen.conversions += history.conversions;
    seen.losses += history.losses;
  }
}

}  // namespace

TEST_CASE("200 random fleets under faults: every call is answered or fails with a reason (INV-1, 3, 4, 5, 8, 14)") {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) soak(seed, seen);
  for (const std::int64_t count : seen.outcomes) CHECK(count > 100);
  for (const std::int64_t count : seen.reasons) CHECK(count > 20);
  CHECK(seen.retried > 500);
  CHECK(seen.starts > 200);
  CHECK(seen.drains > 100);
  CHECK(seen.conversions > 50);
  CHECK(seen.losses > 200);
}
