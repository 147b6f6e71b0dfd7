// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/topologies/rails.hpp"

#include "sim/kernel/zone_hosts.hpp"

namespace llmscape::kernel {
namespace sg = simgrid::s4u;

std::vector<sg::Host*> Rails::make_zone(const sg::NetZone* parent, const std::string& name) const {
  std::vector<sg::Host*> hosts;
  sg::NetZone* star = sg::create_star_zone(name);
  star->set_parent(parent);
  for (std::int64_t node = 0; node < nodes; ++node) {
    const std::string place = std::to_string(node);
    hosts.push_back(star->create_host(name + " node " + place, 1.0)->seal());
    const auto* cable = star->create_split_duplex_link(name + "_link_of_node_" + place, bandwidth.value.si());
    const sg::LinkInRoute up(cable, sg::LinkInRoute::Direction::UP);
    star->add_route(hosts.back()->get_netpoint(), nullptr, nullptr, nullptr, {up}, true);
  }
  star->seal();
  return hosts;
}

const Fields<Rails>& rails_fields() {
  static const Fields<Rails> fields = [] {
    Fields<Rails> f("rails", "a switch for each index of devices in their nodes");
    f.add("rails", &Rails::rails, "switches, each with a cable to every node").required().between(1, 4096);
    f.add("nodes", &Rails::nodes, "ports of a switch").required().between(1, 4096);
    add_cable_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::kernel
