// SPDX-License-Identifier: Apache-2.0
#include "sim/world/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace llmscape::world {
namespace {

constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

// Both ways of an uplink or a port.
struct Duplex {
  kernel::Fabric::Link out, in;
};

class Builder {
 public:
  Builder(kernel::Fabric& fabric, const hardware::FabricConfig& config) : fabric_(fabric), config_(config) {}

  // All ports of a replica together.
  Duplex port(std::size_t replica, const Seat& seat) {
    return duplex(fmt::format("port of replica {}", replica),
                  static_cast<double>(seat.devices) * *seat.placement->node.port);
  }
  [[nodiscard]] static std::int64_t node_of(const Seat& seat) {
    return seat.first_device / seat.placement->node.devices;
  }
  // A replica of several nodes is reached over the first one's uplink.
  Duplex uplink(const Seat& seat) {
    return once(link_of_node(seat.group, node_of(seat)), *seat.placement->node.uplink);
  }
  [[nodiscard]] static std::int64_t rack_of(const Seat& seat) {
    return seat.placement->rack ? node_of(seat) / seat.placement->rack->nodes : 0;
  }
  Duplex rack(const Seat& seat) {
    return once(fmt::format("rack {} of {}", rack_of(seat), seat.group), *seat.placement->rack->uplink);
  }
  Duplex site(const Seat& seat) { return site(seat.placement->site); }
  Duplex site(const std::string& name) { return once(link_of_site(name), *config_.sites.at(name).uplink); }
  // Of the links that something crosses: at every change of its profile or its faults, the least that they allow.
  std::vector<LinkChange> changes(const std::vector<LinkFault>& faults) {
    std::vector<LinkChange> all;
    for (const auto& [name, link] : known_) {
      const std::vector<hardware::UplinkChange> profile = profile_of(name);
      std::set<Seconds> times;
      for (const hardware::UplinkChange& change : profile) times.insert(change.at);
      for (const LinkFault& fault : faults)
        if (fault.link == name) times.insert({fault.from, fault.until});
      times.erase(kNever);
      for (const Seconds at : times) {
        BytesPerSecond allowed = bandwidths_.at(name);
        for (const hardware::UplinkChange& change : profile)
          if (change.at <= at) allowed = change.uplink;
        for (const LinkFault& fault : faults)
          if (fault.link == name && fault.from <= at && at < fault.until) allowed = std::min(allowed, fault.bandwidth);
        for (const kernel::Fabric::Link way : {link.out, link.in}) all.push_back({at, way, allowed});
      }
    }
    std::ranges::stable_sort(all, {}, &LinkChange::at);
    return all;
  }

 private:
  Duplex duplex(const std::string& name, BytesPerSecond bandwidth) {
    const auto out = fabric_.add_link(name + ", out", bandwidth);
    return {out, fabric_.add_link(name + ", in", bandwidth)};
  }
  Duplex once(const std::string& name, BytesPerSecond bandwidth) {
    bandwidths_.emplace(name, bandwidth);
    const auto found = known_.find(name);
    return found != known_.end() ? found->second : known_.emplace(name, duplex(name, bandwidth)).first->second;
  }
  [[nodiscard]] std::vector<hardware::UplinkChange> profile_of(const std::string& link) const {
    for (const auto& [name, site_config] : config_.sites)
      if (link_of_site(name) == link) return site_config.profile;
    return {};
  }

  kernel::Fabric& fabric_;
  const hardware::FabricConfig& config_;
  std::map<std::string, Duplex> known_;
  std::map<std::string, BytesPerSecond> bandwidths_;
};

}  // namespace

std::string link_of_site(const std::string& site) { return "site " + site; }

std::string link_of_node(const std::string& group, std::int64_t node) {
  return fmt::format("node {} of {}", node, group);
}

std::vector<LinkFault> link_faults(const scenario::Scenario& scenario) {
  std::vector<LinkFault> faults;
  for (const scenario::FaultConfig& fault : scenario.config.faults.schedule)
    if (fault.uplink)
      faults.push_back({fault.at, fault.lasts ? fault.at + *fault.lasts : serving::kNever,
                        fault.site ? link_of_site(*fault.site) : link_of_node(*fault.group, *fault.node),
                        *fault.uplink});
  return faults;
}

std::vector<LinkChange> connect(kernel::Fabric& fabric, const std::vector<Seat>& seats,
                                const hardware::FabricConfig& config, const std::vector<LinkFault>& faults) {
  Builder builder(fabric, config);
  std::vector<Duplex> ports;
  for (std::size_t i = 0; i < seats.size(); ++i) {
    fabric.add_endpoint(fmt::format("replica {}", i));
    ports.push_back(seats[i].sends || seats[i].receives ? builder.port(i, seats[i]) : Duplex{});
  }
  for (std::size_t a = 0; a < seats.size(); ++a)
    for (std::size_t b = 0; b < seats.size(); ++b) {
      if (a == b || !seats[a].sends || !seats[b].receives) continue;
      const Seat &from = seats[a], &to = seats[b];
      std::vector<kernel::Fabric::Link> path = {ports[a].out}, way_in = {ports[b].in};
      const hardware::Node &near = from.placement->node, &far = to.placement->node;
      Seconds latency = *near.port_latency + *far.port_latency;
      if (from.group != to.group || Builder::node_of(from) != Builder::node_of(to)) {
        path.push_back(builder.uplink(from).out);
        way_in.push_back(builder.uplink(to).in);
        latency += *near.uplink_latency + *far.uplink_latency;
      }
      if (from.group != to.group || Builder::rack_of(from) != Builder::rack_of(to)) {
        if (from.placement->rack) path.push_back(builder.rack(from).out);
        if (to.placement->rack) way_in.push_back(builder.rack(to).in);
        for (const Seat* seat : {&from, &to})
          if (seat->placement->rack) latency += *seat->placement->rack->latency;
      }
      if (from.placement->site != to.placement->site) {
        path.push_back(builder.site(from).out);
        way_in.push_back(builder.site(to).in);
        latency += *config.sites.at(from.placement->site).latency + *config.sites.at(to.placement->site).latency;
      }
      path.insert(path.end(), way_in.rbegin(), way_in.rend());
      fabric.add_route(a, b, std::move(path), latency);
    }
  return builder.changes(faults);
}

}  // namespace llmscape::world
