// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/topologies/dragonfly.hpp"

namespace llmscape::kernel {

const Fields<Dragonfly>& dragonfly_fields() {
  static const Fields<Dragonfly> fields = [] {
    using D = Dragonfly;
    Fields<D> f("dragonfly", "groups of chassis of routers, with nodes at each router");
    f.add("groups", &D::groups, "groups, each joined to every other").required().between(1, 4096);
    f.add("group_cables", &D::group_cables, "cables side by side between two groups").between(1, 4096);
    f.add("chassis", &D::chassis, "chassis of a group").required().between(1, 4096);
    f.add("chassis_cables", &D::chassis_cables, "cables side by side between routers of one index in two chassis")
        .between(1, 4096);
    f.add("routers", &D::routers, "routers of a chassis").required().between(1, 4096);
    f.add("router_cables", &D::router_cables, "cables side by side between two routers of a chassis").between(1, 4096);
    f.add("nodes", &D::nodes, "nodes at a router, each with one cable").required().between(1, 4096);
    add_cable_fields(f);
    f.check([](const D& d, const YamlNode& node, Diagnostics& diagnostics) {
      // SimGrid's router with the cable to group i is the i-th of a chassis, and is not looked for elsewhere.
      if (d.groups > d.routers)
        diagnostics.error(node.where,
                          "each chassis has to have as many routers as there are groups: 'routers' has to be " +
                              std::to_string(d.groups) + " at least");
      const double places = static_cast<double>(d.groups * d.chassis) * static_cast<double>(d.routers * d.nodes);
      if (places > kMostPlaces) too_many_places(places, node, diagnostics);
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::kernel
