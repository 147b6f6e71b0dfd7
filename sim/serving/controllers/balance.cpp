// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/controllers/balance.hpp"

#include "sim/serving/controllers/convert.hpp"

namespace llmscape::serving {
namespace {

class Balancer : public Controller {
 public:
  Balancer(const Balance& policy, const FleetPlan& plan) : policy_(policy) {
    for (const Balance::Side& side : policy.between) pools_.push_back(*plan.pool_named(side.pool));
  }

  [[nodiscard]] Seconds next_event() const override { return static_cast<double>(looks_ + 1) * policy_.interval; }
  void act(Fleet& fleet, Seconds now) override {
    ++looks_;
    if (now - changed_ < policy_.cooldown) return;
    const bool first = overloaded(fleet, 0), second = overloaded(fleet, 1);
    if (first == second) return;
    const std::size_t giver = first ? 1 : 0, taker = 1 - giver;
    if (fleet.load(pools_[giver]).serving <= policy_.between[giver].min) return;
    fleet.convert(*least_busy(fleet, pools_[giver]), pools_[taker], policy_.takes, now);
    changed_ = now;
  }

 private:
  [[nodiscard]] bool overloaded(const Fleet& fleet, std::size_t side) const {
    const PoolLoad load = fleet.load(pools_[side]);
    return static_cast<double>(load.requests + load.waiting) >
           policy_.between[side].above * static_cast<double>(load.serving + load.loading);
  }

  Balance policy_;
  std::vector<std::size_t> pools_;
  std::int64_t looks_ = 0;
  Seconds changed_ = -kNever;
};

const Fields<Balance::Side>& side_fields() {
  using Side = Balance::Side;
  static const Fields<Side> fields = [] {
    Fields<Side> f("balance_side", "one of two pools that replicas change between");
    f.add("pool", &Side::pool, "its name").required();
    f.add("above", &Side::above,
          "calls, outstanding and waiting, per replica that serves or loads: it takes replicas above this")
        .required()
        .at_least(0);
    f.add("min", &Side::min, "replicas that stay").at_least(1);
    return f;
  }();
  return fields;
}

}  // namespace

std::vector<Problem> Balance::problems(const FleetPlan& plan) const {
  return not_convertible(plan, between[0].pool, between[1].pool);
}

std::unique_ptr<Controller> Balance::make(const FleetPlan& plan) const {
  return std::make_unique<Balancer>(*this, plan);
}

const Fields<Balance>& balance_fields() {
  static const Fields<Balance> fields = [] {
    Fields<Balance> f("balance", "replicas change between two pools with their loads");
    f.add_group("between", &Balance::between, side_fields(), "the two pools").required();
    f.add("interval", &Balance::interval, "time between two looks").required().at_least(1e-3);
    f.add("takes", &Balance::takes, "from the end of its last call until a replica serves in the other pool")
        .required()
        .at_least(0);
    f.add("cooldown", &Balance::cooldown, "least time between two conversions").at_least(0);
    f.check([](const Balance& b, const YamlNode& node, Diagnostics& d) {
      if (b.between.size() != 2) d.error(node.where, "'between' has to name two pools");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
