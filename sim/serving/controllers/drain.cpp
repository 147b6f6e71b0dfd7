// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/controllers/drain.hpp"

#include <algorithm>
#include <map>

namespace llmscape::serving {
namespace {

class Maintenance : public Controller {
 public:
  Maintenance(const Drain& policy, const FleetPlan& plan) : policy_(policy), plan_(plan), next_(policy.at) {}

  [[nodiscard]] Seconds next_event() const override { return next_; }
  void act(Fleet& fleet, Seconds now) override {
    if (next_ == policy_.at && out_.empty()) {
      take(fleet, now);
      next_ = policy_.lasts && !out_.empty() ? policy_.at + *policy_.lasts : kNever;
    } else {
      for (const std::size_t replica : out_) fleet.repair(replica, *plan_.replicas[replica].cold_start, now);
      next_ = kNever;
    }
  }

 private:
  // Those that stand on the same devices, as models that take turns do: it is the devices that are out.
  struct Together {
    std::vector<std::size_t> replicas;
    std::int64_t serving = 0, outstanding = 0;
  };

  std::vector<Together> all_of_group(const Fleet& fleet) const {
    std::map<std::int64_t, Together> by_first_device;
    for (std::size_t replica = 0; replica < fleet.replicas(); ++replica) {
      if (plan_.replicas[replica].group != policy_.group) continue;
      const Availability availability = fleet.availability(replica);
      if (availability == Availability::lost) continue;
      Together& together = by_first_device[plan_.replicas[replica].first_device];
      together.replicas.push_back(replica);
      if (availability == Availability::serving) ++together.serving;
      together.outstanding += fleet.outstanding(replica);
    }
    std::vector<Together> all;
    for (auto& [first, together] : by_first_device)
      if (together.serving > 0) all.push_back(std::move(together));
    return all;
  }
  void take(Fleet& fleet, Seconds now) {
    std::vector<Together> all = all_of_group(fleet);
    std::ranges::stable_sort(all, {}, &Together::outstanding);
    std::int64_t left = policy_.count;
    for (const Together& together : all) {
      if (left <= 0) break;
      left -= together.serving;
      out_.insert(out_.end(), together.replicas.begin(), together.replicas.end());
    }
    for (const std::size_t replica : out_) fleet.cordon(replica, !policy_.lasts, now);
  }

  Drain policy_;
  FleetPlan plan_;
  Seconds next_;
  std::vector<std::size_t> out_;
};

}  // namespace

std::vector<Problem> Drain::problems(const FleetPlan& plan) const {
  const auto of_group = [&](const FleetPlan::Replica& replica) { return replica.group == group; };
  const std::int64_t there = std::ranges::count_if(plan.replicas, of_group);
  if (there == 0) {
    std::vector<std::string> known;
    for (const FleetPlan::Replica& replica : plan.replicas) known.push_back(replica.group);
    return {{"there is no group of devices " + in_quotes(group), did_you_mean(group, known)}};
  }
  std::vector<Problem> problems;
  if (count > there)
    problems.push_back({"'" + group + "' makes " + std::to_string(there) + " replicas, not " + std::to_string(count)});
  if (!lasts) return problems;
  for (Problem& problem : unknown_cold_starts(plan, of_group)) problems.push_back(std::move(problem));
  return problems;
}

std::unique_ptr<Controller> Drain::make(const FleetPlan& plan) const {
  return std::make_unique<Maintenance>(*this, plan);
}

const Fields<Drain>& drain_fields() {
  static const Fields<Drain> fields = [] {
    Fields<Drain> f("drain", "replicas are taken out for maintenance");
    f.add("at", &Drain::at, "when they stop taking calls").required().at_least(0);
    f.add("lasts", &Drain::lasts, "after which they start again; absent: they never do").above(0);
    f.add("group", &Drain::group, "name of the group of devices").required();
    f.add("count", &Drain::count, "how many replicas, those with the fewest calls first").at_least(1);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
