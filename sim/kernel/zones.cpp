// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "sim/kernel/simgrid_engine.hpp"
#include "sim/kernel/zone_topology.hpp"

namespace llmscape::kernel {
namespace {

namespace sg = simgrid::s4u;
using Hosts = std::vector<sg::Host*>;

// Makes one plane of cables in `parent`, sealed, under a name that no other zone has, with a host at each place. Cables
// have no latency there (docs/kernel.md).
class ZoneMaker {
 public:
  ZoneMaker(sg::NetZone* parent, std::string name, BytesPerSecond bandwidth)
      : parent_(parent), name_(std::move(name)), bandwidth_(bandwidth.si()) {}

  void operator()(const FatTreeZone& tree) {
    const std::vector<unsigned> below(tree.down.begin(), tree.down.end()), above(tree.up.begin(), tree.up.end());
    const sg::FatTreeParams shape(static_cast<unsigned>(below.size()), below, above, Cables(below.size(), 1));
    sg::create_fatTree_zone(name_, parent_, shape, hosts_at_places(), bandwidth_, 0, kTwoWays)->seal();
  }
  void operator()(const TorusZone& torus) {
    const std::vector<unsigned long> dimensions(torus.dimensions.begin(), torus.dimensions.end());
    sg::create_torus_zone(name_, parent_, dimensions, hosts_at_places(), bandwidth_, 0, kTwoWays)->seal();
  }
  void operator()(const DragonflyZone& d) {
    const auto pair = [](std::int64_t number, std::int64_t cables) {
      return std::pair(static_cast<unsigned>(number), static_cast<unsigned>(cables));
    };
    const sg::DragonflyParams shape(pair(d.groups, d.group_cables), pair(d.chassis, d.chassis_cables),
                                    pair(d.routers, d.router_cables), static_cast<unsigned>(d.nodes));
    sg::create_dragonfly_zone(name_, parent_, shape, hosts_at_places(), bandwidth_, 0, kTwoWays)->seal();
  }
  void operator()(const StarZone& star) {
    sg::NetZone* zone = sg::create_star_zone(name_);
    zone->set_parent(parent_);
    for (std::int64_t node = 0; node < star.nodes; ++node) {
      const std::string place = std::to_string(node);
      hosts_.push_back(zone->create_host(name_ + " node " + place, 1.0)->seal());
      const auto* cable = zone->create_split_duplex_link(name_ + "_link_of_node_" + place, bandwidth_);
      const sg::LinkInRoute up(cable, sg::LinkInRoute::Direction::UP);
      zone->add_route(hosts_.back()->get_netpoint(), nullptr, nullptr, nullptr, {up}, true);
    }
    zone->seal();
  }
  Hosts hosts() && { return std::move(hosts_); }

 private:
  using Cables = std::vector<unsigned>;
  static constexpr auto kTwoWays = sg::Link::SharingPolicy::SPLITDUPLEX;

  sg::ClusterCallbacks hosts_at_places() {
    return at_each_place([this](sg::NetZone* inside, unsigned long place) {
      hosts_.push_back(inside->create_host(name_ + " node " + std::to_string(place), 1.0)->seal());
      return hosts_.back();
    });
  }

  sg::NetZone* parent_;
  std::string name_;
  double bandwidth_;
  Hosts hosts_;
};

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
    const Zone zone = topology.zone();
    for (std::int64_t plane = 0; plane < topology.planes(); ++plane) {
      const std::string name = next_name();
      ZoneMaker maker(engine_of_process().get_netzone_root(), name, *topology.bandwidth);
      std::visit(maker, zone);
      planes_.push_back({name, std::move(maker).hosts()});
    }
  }

  Way way(std::int64_t from, std::int64_t to, std::int64_t plane) override {
    const std::vector<sg::Link*> cables = cables_between(from, to, plane);
    Way way;
    std::int64_t at = from;  // in whose group the way is: that of the sender up to the cable between groups
    for (sg::Link* cable : cables) {
      if (cable->get_name().find("blue_link") != std::string::npos) at = to;
      way.links.push_back(link_of(cable, plane, at));
    }
    way.latency = static_cast<double>(cables.size()) * *topology_.latency;
    return way;
  }

 private:
  struct Plane {
    std::string name;  // of its zone
    Hosts hosts;
  };

  // SimGrid's, from the node on.
  [[nodiscard]] std::vector<sg::Link*> route(std::int64_t from, std::int64_t to, std::int64_t plane) const {
    const Hosts& hosts = planes_.at(static_cast<std::size_t>(plane)).hosts;
    std::vector<sg::Link*> cables;
    double none = 0;
    hosts.at(static_cast<std::size_t>(from))->route_to(hosts.at(static_cast<std::size_t>(to)), cables, &none);
    return cables;
  }

  // Inside a group of a dragonfly SimGrid's route goes on from the first chassis once it has crossed a cable inside any
  // other, where it does not stand: what follows is the way from the router that it has come to.
  [[nodiscard]] std::vector<sg::Link*> cables_between(std::int64_t from, std::int64_t to, std::int64_t plane) const {
    std::vector<sg::Link*> cables = route(from, to, plane);
    const Zone zone = topology_.zone();
    const auto* d = std::get_if<DragonflyZone>(&zone);
    if (!d) return cables;
    const std::int64_t chassis = d->routers * d->nodes, group = d->chassis * chassis;
    const std::int64_t near = from % chassis / d->nodes, far = to % chassis / d->nodes;  // routers in their chassis
    if (from / group != to / group || near == far) return cables;
    cables.resize(2);  // to the router of the receiver's index in the sender's chassis
    const std::vector<sg::Link*> on = route(from / chassis * chassis + far * d->nodes, to, plane);
    cables.insert(cables.end(), from / chassis == to / chassis ? on.end() - 1 : on.begin() + 1, on.end());
    return cables;
  }

  Fabric::Link link_of(sg::Link* cable, std::int64_t plane, std::int64_t place) {
    const auto found = known_.find(cable);
    if (found != known_.end()) return found->second;
    std::string name = cable_name(cable->get_name(), planes_[static_cast<std::size_t>(plane)].name);
    name_group(name, place);
    if (planes_.size() > 1) name = "rail " + std::to_string(plane) + ", " + name;
    return known_.emplace(cable, fabric_.add_wire(name, BytesPerSecond(cable->get_bandwidth()), cable)).first->second;
  }

  // SimGrid counts the chassis of each group of a dragonfly from 0, and does not say of which group one is.
  void name_group(std::string& name, std::int64_t place) const {
    static constexpr std::string_view kChassis = "green link in chassis";
    const Zone zone = topology_.zone();
    const auto* d = std::get_if<DragonflyZone>(&zone);
    if (d && name.starts_with(kChassis))
      name = "green link in group " + std::to_string(place / (d->chassis * d->routers * d->nodes)) + ", chassis" +
             name.substr(kChassis.size());
  }

  const ZoneTopology& topology_;
  Fabric& fabric_;
  std::vector<Plane> planes_;
  std::map<const sg::Link*, Fabric::Link> known_;  // only asked, never walked
};

}  // namespace
}  // namespace llmscape::kernel

// The module's second function: of a topology, which has to outlive its wiring (base/module.hpp).
extern "C" llmscape::kernel::Wiring* llmscape_simgrid_wiring(const llmscape::kernel::ZoneTopology& topology,
                                                             llmscape::kernel::Fabric& fabric) {
  return new llmscape::kernel::ZoneWiring(topology, fabric);
}
