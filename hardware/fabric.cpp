// SPDX-License-Identifier: Apache-2.0
#include "hardware/fabric.hpp"

#include <algorithm>

#include "hardware/link.hpp"

namespace llmscape::hardware {
namespace {

const Fields<UplinkChange>& change_fields() {
  static const Fields<UplinkChange> fields = [] {
    Fields<UplinkChange> f("uplink_change", "what an uplink carries from a moment on");
    f.add("at", &UplinkChange::at, "when").required().at_least(0);
    f.add("uplink", &UplinkChange::uplink, "one way; 0: it is down").required().at_least(0);
    return f;
  }();
  return fields;
}

const Fields<Site>& site_fields() {
  static const Fields<Site> fields = [] {
    Fields<Site> f("site", "a place with an uplink to the others");
    f.add("uplink", &Site::uplink, "to the other sites, one way").required().above(0);
    f.add("latency", &Site::latency, "of the uplink").required().at_least(0);
    f.add_group("profile", &Site::profile, change_fields(), "how the uplink slows down, fails and comes back");
    f.check([](const Site& site, const YamlNode& node, Diagnostics& diagnostics) {
      if (!std::ranges::is_sorted(site.profile, {}, &UplinkChange::at))
        diagnostics.error(node.where, "the changes of 'profile' have to stand in order of time");
    });
    return f;
  }();
  return fields;
}

const Fields<Rack>& rack_fields() {
  static const Fields<Rack> fields = [] {
    Fields<Rack> f("rack", "nodes that stand together, with an uplink to the other racks of the site");
    f.add("nodes", &Rack::nodes, "nodes of a rack").between(1, 100000);
    f.add("uplink", &Rack::uplink, "of the rack to the others of its site, one way").required().above(0);
    f.add("latency", &Rack::latency, "of the uplink").required().at_least(0);
    return f;
  }();
  return fields;
}

const Fields<Placement>& placement_fields() {
  static const Fields<Placement> fields = [] {
    Fields<Placement> f("placement", "where a group of devices stands");
    f.add_group("node", &Placement::node, node_fields(), "what its devices sit in, node after node")
        .preset_from("nodes")
        .required();
    f.add_group("rack", &Placement::rack, rack_fields(),
                "what its nodes stand in, rack after rack; absent: one switch joins all nodes")
        .preset_from("links");
    f.add("site", &Placement::site, "name of its site; absent: the one that has no name");
    return f;
  }();
  return fields;
}

}  // namespace

const Fields<Link>& link_fields() {
  static const Fields<Link> fields = [] {
    Fields<Link> f("link", "a link that leaves a rack, a site or the device of a user");
    f.add("uplink", &Link::uplink, "bandwidth, one way").required().above(0);
    f.add("latency", &Link::latency, "of the uplink").required().at_least(0);
    return f;
  }();
  return fields;
}

const Fields<Node>& node_fields() {
  static const Fields<Node> fields = [] {
    Fields<Node> f("node", "devices that sit together, and their links");
    f.add("devices", &Node::devices, "devices of a node").between(1, 100000);
    f.add("port", &Node::port, "of one device to the others of its node, one way").required().above(0);
    f.add("port_latency", &Node::port_latency, "of a port").required().at_least(0);
    f.add("uplink", &Node::uplink, "of a node to the others of its site, one way").required().above(0);
    f.add("uplink_latency", &Node::uplink_latency, "of the uplink").required().at_least(0);
    f.add("adapter", &Node::adapter,
          "of one device out of the node, one way: its own network adapter; absent: its even part of the uplink")
        .above(0);
    return f;
  }();
  return fields;
}

const Fields<FabricConfig>& fabric_config_fields() {
  static const Fields<FabricConfig> fields = [] {
    Fields<FabricConfig> f("fabric", "nodes, racks and sites: the links that bytes cross between replicas");
    f.add_group("groups", &FabricConfig::groups, placement_fields(), "where each group of devices stands, by its name");
    f.add_group("sites", &FabricConfig::sites, site_fields(), "sites by name").preset_from("links");
    f.check([](const FabricConfig& fabric, const YamlNode& node, Diagnostics& diagnostics) {
      for (const auto& [group, placement] : fabric.groups)
        if (!placement.site.empty() && !fabric.sites.contains(placement.site))
          diagnostics.error(node.where,
                            "'" + group + "' stands at a site '" + placement.site + "' that is not in 'sites'");
      // What leaves a site crosses its uplink, that of the one without a name too.
      const auto of_no_name = std::ranges::find_if(fabric.groups, [](const auto& g) { return g.second.site.empty(); });
      const auto elsewhere = std::ranges::find_if(fabric.groups, [](const auto& g) { return !g.second.site.empty(); });
      if (of_no_name != fabric.groups.end() && elsewhere != fabric.groups.end() && !fabric.sites.contains(""))
        diagnostics.error(node.where,
                          "'" + elsewhere->first + "' stands at the site '" + elsewhere->second.site + "' and '" +
                              of_no_name->first + "' at none, whose uplink is not known",
                          "give it a 'site', or the one without a name an uplink: sites: {\"\": ...}");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
