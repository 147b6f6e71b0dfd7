// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/controllers/autoscale.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <string>

namespace llmscape::serving {
namespace {

// Calls that ended lately, and how many of them had to wait too long for their first token.
class RecentMisses {
 public:
  RecentMisses(Seconds ttft, Seconds window) : ttft_(ttft), window_(window) {}

  void add(const Request& request, Outcome outcome, Seconds at) {
    const bool answered = request.seen.first < kNever;
    if (!answered && outcome == Outcome::cancelled) return;  // nobody waited for it
    const bool missed = !answered || request.ttft() > ttft_;
    ended_.push_back({at, missed});
    missed_ += missed ? 1 : 0;
  }
  // Nothing if no call ended within the window.
  std::optional<double> share(Seconds now) {
    for (; !ended_.empty() && ended_.front().at <= now - window_; ended_.pop_front())
      missed_ -= ended_.front().missed ? 1 : 0;
    if (ended_.empty()) return std::nullopt;
    return static_cast<double>(missed_) / static_cast<double>(ended_.size());
  }

 private:
  struct Ended {
    Seconds at;
    bool missed;
  };
  Seconds ttft_, window_;
  std::deque<Ended> ended_;
  std::int64_t missed_ = 0;
};

class Autoscaler : public Controller {
 public:
  Autoscaler(const Autoscale& policy, const FleetPlan& plan)
      : policy_(policy), plan_(plan), pool_(*plan.pool_named(policy.pool)),
        max_(policy.max.value_or(plan.replicas_of(pool_))),
        misses_(policy.ttft.value_or(kNever), policy.window.value_or(kNever)) {}

  [[nodiscard]] Seconds next_event() const override { return std::min(called_, next_look()); }

  void act(Fleet& fleet, Seconds now) override {
    called_ = kNever;
    PoolLoad load = fleet.load(pool_);
    if (load.waiting > 0 && load.serving + load.loading == 0) {
      start(fleet, 1, now);
      load = fleet.load(pool_);
    }
    if (next_look() > now) return;
    ++looks_;
    scale(fleet, load, now);
  }

  [[nodiscard]] bool starts(const Fleet& fleet, std::size_t replica) const override {
    return fleet.pool_of(replica) == pool_ && max_ > 0;
  }
  void on_waiting(const Request& request, Seconds now) override {
    if (request.model == plan_.pools[pool_].model) called_ = now;
  }
  void on_request(const Request& request, const std::function<bool(std::size_t)>& concerns, Outcome outcome,
                  Seconds at) override {
    if (policy_.by == Autoscale::By::slo && concerns(pool_)) misses_.add(request, outcome, at);
  }

 private:
  [[nodiscard]] Seconds next_look() const { return static_cast<double>(looks_ + 1) * policy_.interval; }

  // How much there is to do, on the scale of up_at and down_at; nothing if that is not known.
  std::optional<double> measure(const PoolLoad& load, Seconds now) {
    const std::int64_t calls = load.requests + load.waiting;
    if (policy_.by == Autoscale::By::calls)
      return static_cast<double>(calls) / static_cast<double>(load.serving + load.loading);
    if (const auto share = misses_.share(now)) return share;
    return calls == 0 ? std::optional<double>(0) : std::nullopt;
  }

  void scale(Fleet& fleet, const PoolLoad& load, Seconds now) {
    const std::int64_t running = load.serving + load.loading;
    if (running < policy_.min) return start(fleet, policy_.min - running, now);
    if (running > max_) return stop(fleet, running - max_, now);
    if (running == 0) return;
    const auto busy = measure(load, now);
    if (!busy) return;
    if (*busy > policy_.up_at && now - changed_ >= policy_.up_cooldown)
      start(fleet, std::min(policy_.step, max_ - running), now);
    else if (*busy < policy_.down_at && now - changed_ >= policy_.down_cooldown)
      stop(fleet, std::min(policy_.step, running - policy_.min), now);
  }

  void start(Fleet& fleet, std::int64_t count, Seconds now) {
    for (std::size_t replica = 0; replica < fleet.replicas() && count > 0; ++replica) {
      if (fleet.pool_of(replica) != pool_ || fleet.availability(replica) != Availability::off) continue;
      fleet.start(replica, now + *plan_.replicas[replica].cold_start, now);
      changed_ = now;
      --count;
    }
  }

  void stop(Fleet& fleet, std::int64_t count, Seconds now) {
    for (; count > 0; --count) {
      const auto replica = least_busy(fleet, pool_);
      if (!replica) return;
      fleet.drain(*replica, now);
      changed_ = now;
    }
  }

  Autoscale policy_;
  FleetPlan plan_;
  std::size_t pool_;
  std::int64_t max_;
  RecentMisses misses_;
  std::int64_t looks_ = 0;
  Seconds called_ = kNever;
  Seconds changed_ = -kNever;
};

}  // namespace

std::vector<Problem> Autoscale::problems(const FleetPlan& plan) const {
  const auto place = plan.pool_named(pool);
  if (!place) return {no_such_pool(pool, plan)};
  std::vector<Problem> problems;
  const std::int64_t most = plan.replicas_of(*place);
  for (const auto& [key, value] : {std::pair{"min", std::optional(min)}, {"max", max}, {"initial", initial}})
    if (value && *value > most)
      problems.push_back({"'" + std::string(key) + "' is " + std::to_string(*value) + ", but the devices of '" +
                          plan.pools[*place].name + "' make " + std::to_string(most) + " replicas"});
  // A call that only a replica of another size could hold would wait for one that nobody has a reason to start.
  std::set<std::string> groups;
  for (const FleetPlan::Replica& replica : plan.replicas)
    if (replica.pool == *place) groups.insert(replica.group);
  if (groups.size() > 1)
    problems.push_back(
        {"the pool '" + plan.pools[*place].name + "' has devices of several groups", "scale a pool for each group"});
  if (plan.pools[*place].shared)
    problems.push_back({"the models of '" + plan.pools[*place].name + "' take turns at its devices",
                        "a pool of one model can be scaled"});
  if (by == By::slo && plan.pools[*place].role == Role::decode)
    problems.push_back(
        {"a missed 'ttft' counts for the pool that computes the prompt, and '" + plan.pools[*place].name + "' decodes",
         "scale it by: calls"});
  for (Problem& problem : unknown_cold_starts(plan, [&](const auto& replica) { return replica.pool == *place; }))
    problems.push_back(std::move(problem));
  return problems;
}

std::unique_ptr<Controller> Autoscale::make(const FleetPlan& plan) const {
  return std::make_unique<Autoscaler>(*this, plan);
}

std::int64_t Autoscale::off_at_first(const FleetPlan& plan, std::size_t place) const {
  return plan.pool_named(pool) == place ? plan.replicas_of(place) - initial.value_or(min) : 0;
}

const Fields<Autoscale>& autoscale_fields() {
  static const Fields<Autoscale> fields = [] {
    using By = Autoscale::By;
    Fields<Autoscale> f("autoscale", "replicas of a pool come and go with its load");
    f.add("pool", &Autoscale::pool, "name of the pool; absent: the only one");
    f.add("min", &Autoscale::min, "fewest replicas; 0: a call that finds none has one started").at_least(0);
    f.add("max", &Autoscale::max, "most replicas; absent: all that the pool's devices make").at_least(1);
    f.add("initial", &Autoscale::initial, "replicas that serve when the run begins; absent: 'min'").at_least(0);
    f.add_enum("by", &Autoscale::by, {{"calls", By::calls}, {"slo", By::slo}},
               "calls: those outstanding and waiting for each replica that serves or loads; slo: share of the pool's "
               "calls ended within 'window' that missed 'ttft'");
    f.add("up_at", &Autoscale::up_at, "replicas are started above this").required().at_least(0);
    f.add("down_at", &Autoscale::down_at, "replicas are drained below this").required().at_least(0);
    f.add("step", &Autoscale::step, "replicas started or drained at once").at_least(1);
    f.add("interval", &Autoscale::interval, "time between two looks").required().at_least(1e-3);
    f.add("up_cooldown", &Autoscale::up_cooldown, "least time between a change and the next start").at_least(0);
    f.add("down_cooldown", &Autoscale::down_cooldown, "least time between a change and the next drain").at_least(0);
    f.add("ttft", &Autoscale::ttft, "by slo: time to first token that a call must not exceed").above(0);
    f.add("window", &Autoscale::window, "by slo: how far it looks back").above(0);
    f.check([](const Autoscale& a, const YamlNode& node, Diagnostics& d) {
      if (a.down_at >= a.up_at) d.error(node.where, "'down_at' has to be below 'up_at'");
      if (a.max && *a.max < a.min) d.error(node.where, "'max' is below 'min'");
      if (a.initial && (*a.initial < a.min || (a.max && *a.initial > *a.max)))
        d.error(node.where, "'initial' has to lie between 'min' and 'max'");
      if ((a.by == By::slo) != (a.ttft && a.window) || a.ttft.has_value() != a.window.has_value())
        d.error(node.where, "'by: slo' needs 'ttft' and 'window', and nothing else does");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
