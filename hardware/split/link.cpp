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

void add_crossings(StepPhases& phases, const SplitLink& link, int crossings, Bytes bytes) {
  const Seconds sending = bytes / *link.bandwidth;
  Phase& phase = phases.of(OperatorFamily::collective);
  phase.time += crossings * *link.latency + sending;
  phase.bound = Bound::links;
  phase.busy_of(Resource::links) += sending;
  phase.energy_of(EnergyComponent::interconnect) += bytes * *link.energy;
}

}  // namespace llmscape::hardware
