// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/controllers/convert.hpp"

namespace llmscape::serving {
namespace {

class Conversion : public Controller {
 public:
  Conversion(const Convert& policy, const FleetPlan& plan)
      : policy_(policy), from_(*plan.pool_named(policy.from)), to_(*plan.pool_named(policy.to)) {}

  [[nodiscard]] Seconds next_event() const override { return done_ ? kNever : policy_.at; }
  void act(Fleet& fleet, Seconds now) override {
    done_ = true;
    for (std::int64_t i = 0; i < policy_.count && fleet.load(from_).serving > 1; ++i)
      fleet.convert(*least_busy(fleet, from_), to_, policy_.takes, now);
  }

 private:
  Convert policy_;
  std::size_t from_, to_;
  bool done_ = false;
};

}  // namespace

std::vector<Problem> not_convertible(const FleetPlan& plan, const std::string& from, const std::string& to) {
  std::vector<Problem> problems;
  for (const std::string& name : {from, to})
    if (!plan.pool_named(name)) problems.push_back(no_such_pool(name, plan));
  if (!problems.empty()) return problems;
  if (from == to) return {{"a replica of '" + from + "' is converted to where it is"}};
  const FleetPlan::Pool &a = plan.pools[*plan.pool_named(from)], &b = plan.pools[*plan.pool_named(to)];
  for (const FleetPlan::Pool* pool : {&a, &b})
    if (pool->shared)
      problems.push_back(
          {"the models of '" + pool->name + "' take turns at its devices: no replica can leave or join them",
           "replicas change between pools of one model"});
  if (!problems.empty()) return problems;
  if ((a.role == Role::any) != (b.role == Role::any))
    problems.push_back({"one of '" + from + "' and '" + to + "' does everything, the other transfers KV entries"});
  if (a.engine != b.engine)
    problems.push_back({"the engines of '" + from + "' and '" + to + "' are not alike: no replica can change over",
                        "same model, devices, parallel plan, batcher and KV cache"});
  return problems;
}

std::vector<Problem> Convert::problems(const FleetPlan& plan) const {
  std::vector<Problem> problems = not_convertible(plan, from, to);
  if (problems.empty() && count >= plan.replicas_of(*plan.pool_named(from)))
    problems.push_back({"'" + from + "' has " + std::to_string(plan.replicas_of(*plan.pool_named(from))) +
                        " replicas, and one has to stay"});
  return problems;
}

std::unique_ptr<Controller> Convert::make(const FleetPlan& plan) const {
  return std::make_unique<Conversion>(*this, plan);
}

const Fields<Convert>& convert_fields() {
  static const Fields<Convert> fields = [] {
    Fields<Convert> f("convert", "replicas go to another pool at a given time");
    f.add("at", &Convert::at, "when").required().at_least(0);
    f.add("from", &Convert::from, "name of the pool that they leave; one stays").required();
    f.add("to", &Convert::to, "name of the pool where they serve then").required();
    f.add("count", &Convert::count, "how many").at_least(1);
    f.add("takes", &Convert::takes, "from the end of their last call until they serve again").required().at_least(0);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
