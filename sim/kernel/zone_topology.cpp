// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/zone_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/kernel/simgrid_engine.hpp"

namespace llmscape::kernel {
namespace sg = simgrid::s4u;
namespace {

std::string next_name() {
  static int made = 0;
  return "topology" + std::to_string(++made);
}

// What results call one way of a cable: SimGrid's name of it without what differs from run to run, the zone's name
// before it or else a running number behind it. "topology1_link_from_0_to_1_UP" -> "link from 0 to 1, up".
std::string cable_name(std::string name, const std::string& zone) {
  const std::size_t way = name.rfind('_');
  const std::string up_or_down = name.substr(way) == "_UP" ? ", up" : ", down";
  name.resize(way);
  if (name.starts_with(zone)) name.erase(0, zone.size() + 1);
  else name.resize(name.rfind('_'));
  std::ranges::replace(name, '_', ' ');
  return name + up_or_down;
}

class ZoneWiring final : public Wiring {
 public:
  ZoneWiring(const ZoneTopology& topology, Fabric& fabric) : topology_(topology), fabric_(fabric) {
    for (std::int64_t plane = 0; plane < topology.planes(); ++plane) {
      const std::string name = next_name();
      planes_.push_back({name, topology.make_zone(engine_of_process().get_netzone_root(), name)});
    }
  }

  Way way(std::int64_t from, std::int64_t to, std::int64_t plane) override {
    const std::vector<sg::Host*>& hosts = planes_.at(static_cast<std::size_t>(plane)).hosts;
    std::vector<sg::Link*> cables;
    double none = 0;
    hosts.at(static_cast<std::size_t>(from))->route_to(hosts.at(static_cast<std::size_t>(to)), cables, &none);
    Way way;
    for (sg::Link* cable : cables) way.links.push_back(link_of(cable, plane));
    way.latency = static_cast<double>(cables.size()) * *topology_.latency;
    return way;
  }

 private:
  struct Plane {
    std::string name;  // of its zone
    std::vector<sg::Host*> hosts;
  };

  Fabric::Link link_of(sg::Link* cable, std::int64_t plane) {
    const auto found = known_.find(cable);
    if (found != known_.end()) return found->second;
    std::string name = cable_name(cable->get_name(), planes_[static_cast<std::size_t>(plane)].name);
    if (planes_.size() > 1) name = "rail " + std::to_string(plane) + ", " + name;
    return known_.emplace(cable, fabric_.add_wire(name, BytesPerSecond(cable->get_bandwidth()), cable)).first->second;
  }

  const ZoneTopology& topology_;
  Fabric& fabric_;
  std::vector<Plane> planes_;
  std::map<const sg::Link*, Fabric::Link> known_;  // only asked, never walked
};

}  // namespace

std::unique_ptr<Wiring> ZoneTopology::build(Fabric& fabric) const {
  return std::make_unique<ZoneWiring>(*this, fabric);
}

void too_many_places(double places, const YamlNode& node, Diagnostics& diagnostics) {
  diagnostics.error(node.where, fmt::format("a topology of {:.0f} places: at most {:.0f}", places, kMostPlaces));
}

}  // namespace llmscape::kernel
