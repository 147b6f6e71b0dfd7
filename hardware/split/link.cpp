// SPDX-License-Identifier: Apache-2.0
#include "hardware/split/link.hpp"

namespace llmscape::hardware {

const Fields<SplitLink>& split_link_fields() {
  static const Fields<SplitLink> fields = [] {
    using L = SplitLink;
    Fields<L> f("split_link", "what joins the parts of a split device");
    f.add("bandwidth", &L::bandwidth, "bandwidth one way").required().above(0);
    f.add("latency", &L::latency, "time of a crossing, however small").required().at_least(0);
    f.add("energy", &L::energy, "of bytes that cross").required().at_least(0);
    return f;
  }();
  return fields;
}

void add_crossings(StepCost& cost, const SplitLink& link, int crossings, Bytes bytes) {
  constexpr auto kCollective = static_cast<std::size_t>(OperatorFamily::collective);
  const Seconds sending = bytes / *link.bandwidth;
  const Seconds time = crossings * *link.latency + sending;
  cost.device += time;
  cost.by_family[kCollective] += time;
  cost.bound[kCollective] = Bound::links;
  cost.busy[static_cast<std::size_t>(Resource::links)] += sending;
  cost.energy[static_cast<std::size_t>(EnergyComponent::interconnect)] += bytes * *link.energy;
  cost.energy_by_family[kCollective] += bytes * *link.energy;
}

}  // namespace llmscape::hardware
