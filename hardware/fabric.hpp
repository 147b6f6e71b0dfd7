// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "base/sourced.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llmscape::hardware {

// Devices that sit together: each has a port to the switch between them, and the node an uplink to its site. All
// bandwidths are one way; the other way has as much of its own.
struct Node {
  std::int64_t devices = 8;
  Sourced<BytesPerSecond> port;  // of one device
  Sourced<Seconds> port_latency;
  Sourced<BytesPerSecond> uplink;  // of the whole node
  Sourced<Seconds> uplink_latency;
  std::optional<Sourced<BytesPerSecond>> adapter;  // of one device, out of the node; absent: its part of the uplink

  // What so many of its devices reach of the uplink, in each direction.
  [[nodiscard]] BytesPerSecond reached_by(std::int64_t some) const {
    const double part = static_cast<double>(some) / static_cast<double>(devices);
    return std::min<BytesPerSecond>(*uplink, adapter ? static_cast<double>(some) * **adapter : part * *uplink);
  }
};
const Fields<Node>& node_fields();

// What an uplink carries from a moment on; 0: it is down, and what it carries is lost.
struct UplinkChange {
  Seconds at;
  BytesPerSecond uplink;
};

// Nodes that stand together: a switch that is never the bottleneck, with an uplink to the other racks.
struct Rack {
  std::int64_t nodes = 4;
  Sourced<BytesPerSecond> uplink;  // of the whole rack
  Sourced<Seconds> latency;
};

// A switch that is never the bottleneck, with an uplink to the other sites.
struct Site {
  Sourced<BytesPerSecond> uplink;
  Sourced<Seconds> latency;
  std::vector<UplinkChange> profile;  // in order of time
};

// Where a group of devices stands.
struct Placement {
  Node node;
  std::optional<Rack> rack;  // absent: one switch joins all nodes of the site
  std::string site;          // empty: the one site that needs no name
};

// Nodes, racks and sites: what bytes cross between two replicas. Devices of a group fill node after node, nodes fill
// rack after rack; the racks of a group are its own.
struct FabricConfig {
  std::map<std::string, Placement> groups;  // by the name of a group of devices
  std::map<std::string, Site> sites;
};
const Fields<FabricConfig>& fabric_config_fields();

}  // namespace llmscape::hardware
