// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/controllers/threshold.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::serving {
namespace {

class ThresholdPicker : public Controller {
 public:
  ThresholdPicker(const Threshold& policy, const FleetPlan& plan)
      : policy_(policy), longer_(*plan.pool_named(policy.longer)), shorter_(*plan.pool_named(policy.shorter)) {}

  // The first time at the start, when nobody waits.
  [[nodiscard]] Seconds next_event() const override { return static_cast<double>(looks_) * policy_.interval; }

  void act(Fleet& fleet, Seconds now) override {
    ++looks_;
    const double ahead = calls_per_replica(fleet, longer_) - calls_per_replica(fleet, shorter_);
    const double tokens = static_cast<double>(policy_.usual) * std::pow(policy_.step, ahead);
    const auto within = std::clamp(tokens, static_cast<double>(policy_.min), static_cast<double>(policy_.max));
    fleet.split_by_length(shorter_, longer_, std::llround(within), now);
  }

 private:
  static double calls_per_replica(const Fleet& fleet, std::size_t pool) {
    const PoolLoad load = fleet.load(pool);
    return static_cast<double>(load.requests + load.waiting) /
           static_cast<double>(std::max<std::int64_t>(1, load.serving + load.loading));
  }

  Threshold policy_;
  std::size_t longer_, shorter_;
  std::int64_t looks_ = 0;
};

}  // namespace

std::vector<Problem> Threshold::problems(const FleetPlan& plan) const {
  std::vector<Problem> problems;
  for (const std::string& name : {longer, shorter})
    if (!plan.pool_named(name)) problems.push_back(no_such_pool(name, plan));
  if (!problems.empty()) return problems;
  const FleetPlan::Pool &a = plan.pools[*plan.pool_named(longer)], &b = plan.pools[*plan.pool_named(shorter)];
  if (longer == shorter) problems.push_back({"'longer' and 'shorter' are the same pool"});
  if (a.model != b.model) problems.push_back({"a threshold is between pools of one model"});
  if (a.role == Role::decode || b.role == Role::decode)
    problems.push_back({"a threshold is between pools that compute prompts, not of role 'decode'"});
  return problems;
}

std::unique_ptr<Controller> Threshold::make(const FleetPlan& plan) const {
  return std::make_unique<ThresholdPicker>(*this, plan);
}

const Fields<Threshold>& threshold_fields() {
  static const Fields<Threshold> fields = [] {
    using T = Threshold;
    Fields<T> f("threshold", "the prompt length from which on calls go to another pool follows the queues");
    f.add("longer", &T::longer, "pool that takes longer prompts").required();
    f.add("shorter", &T::shorter, "pool that takes those up to the threshold").required();
    f.add("usual", &T::usual,
          "threshold where the pools have as many calls per replica, in prompt tokens that no cache holds")
        .required()
        .between(1, 1e9);
    f.add("min", &T::min, "the lowest").between(1, 1e9);
    f.add("max", &T::max, "the highest").required().between(1, 1e9);
    f.add("step", &T::step, "factor on it for each call per replica that 'longer' has more").at_least(1).at_most(100);
    f.add("interval", &T::interval, "time between two looks").required().at_least(1e-3);
    f.check([](const T& t, const YamlNode& node, Diagnostics& d) {
      if (t.usual < t.min || t.usual > t.max) d.error(node.where, "'usual' must lie between 'min' and 'max'");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
