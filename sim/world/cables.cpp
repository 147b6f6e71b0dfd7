// SPDX-License-Identifier: Apache-2.0
#include "sim/world/cables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/scenario/node_places.hpp"

namespace llmscape::world {

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

Cables::Cables(kernel::Fabric& fabric, const scenario::HardwareConfig& hardware)
    : fabric_(fabric), config_(hardware.fabric), places_(scenario::first_places(hardware)) {
  if (!hardware.topology) return;
  wiring_ = hardware.topology->build(fabric);
  planes_ = hardware.topology->planes();
}

Duplex Cables::duplex(const std::string& name, BytesPerSecond bandwidth) {
  const auto out = fabric_.add_link(name + ", out", bandwidth);
  return {out, fabric_.add_link(name + ", in", bandwidth)};
}

std::vector<std::int64_t> Cables::planes_of(const Seat& seat) const {
  const std::int64_t devices = seat.placement->node.devices, first = seat.first_device % devices;
  const std::int64_t last = first + seat.devices - 1;
  std::vector<std::int64_t> planes;
  for (std::int64_t plane = first * planes_ / devices; plane <= last * planes_ / devices; ++plane)
    planes.push_back(plane);
  return planes;
}

std::optional<BytesPerSecond> Cables::adapters_of(const Seat& seat) const {
  const hardware::Node& node = seat.placement->node;
  const BytesPerSecond reached = node.reached_by(seat.devices);
  return planes_ == 1 && reached < *node.uplink ? std::optional(reached) : std::nullopt;
}

kernel::Wiring::Way Cables::way(const Seat& from, const Seat& to, std::int64_t plane, Seconds before) {
  kernel::Wiring::Way way{{}, before};
  std::vector<kernel::Fabric::Link>& path = way.links;
  std::vector<kernel::Fabric::Link> way_in;
  const hardware::Node &near = from.placement->node, &far = to.placement->node;
  if (from.group != to.group || node_of(from) != node_of(to)) {
    path.push_back(uplink(from, plane).out);
    way_in.push_back(uplink(to, plane).in);
    way.latency += *near.uplink_latency + *far.uplink_latency;
    if (wiring_) {
      const auto between =
          wiring_->way(places_.at(from.group) + node_of(from), places_.at(to.group) + node_of(to), plane);
      path.insert(path.end(), between.links.begin(), between.links.end());
      way.latency += between.latency;
    }
  }
  if (from.group != to.group || rack_of(from) != rack_of(to)) {
    if (from.placement->rack) path.push_back(rack(from).out);
    if (to.placement->rack) way_in.push_back(rack(to).in);
    for (const Seat* seat : {&from, &to})
      if (seat->placement->rack) way.latency += *seat->placement->rack->latency;
  }
  if (from.placement->site != to.placement->site) {
    path.push_back(site(from).out);
    way_in.push_back(site(to).in);
    way.latency += *config_.sites.at(from.placement->site).latency + *config_.sites.at(to.placement->site).latency;
  }
  path.insert(path.end(), way_in.rbegin(), way_in.rend());
  return way;
}

std::vector<LinkChange> Cables::changes(const std::vector<LinkFault>& faults) const {
  std::vector<LinkChange> all;
  for (const auto& [name, link] : known_) {
    const std::vector<hardware::UplinkChange> profile = profile_of(link.part_of);
    std::set<Seconds> times;
    for (const hardware::UplinkChange& change : profile) times.insert(change.at);
    for (const LinkFault& fault : faults)
      if (fault.link == link.part_of) times.insert({fault.from, fault.until});
    times.erase(serving::kNever);
    for (const Seconds at : times) {
      BytesPerSecond allowed = link.bandwidth;
      for (const hardware::UplinkChange& change : profile)
        if (change.at <= at) allowed = change.uplink;
      for (const LinkFault& fault : faults)
        if (fault.link == link.part_of && fault.from <= at && at < fault.until)
          allowed = std::min(allowed, fault.bandwidth);
      for (const kernel::Fabric::Link way : {link.ways.out, link.ways.in})
        all.push_back({at, way, link.share * allowed});
    }
  }
  std::ranges::stable_sort(all, {}, &LinkChange::at);
  return all;
}

// What of a node's uplink is in one plane.
Duplex Cables::uplink(const Seat& seat, std::int64_t plane) {
  const std::string node = link_of_node(seat.group, node_of(seat));
  const BytesPerSecond all = *seat.placement->node.uplink;
  if (planes_ == 1) return once(node, all);
  return once(fmt::format("{}, rail {}", node, plane), all, node, 1 / static_cast<double>(planes_));
}

Duplex Cables::rack(const Seat& seat) {
  return once(fmt::format("rack {} of {}", rack_of(seat), seat.group), *seat.placement->rack->uplink);
}

Duplex Cables::site(const Seat& seat) {
  const std::string& name = seat.placement->site;
  return once(link_of_site(name), *config_.sites.at(name).uplink);
}

Duplex Cables::once(const std::string& name, BytesPerSecond bandwidth, const std::string& part_of, double share) {
  const auto found = known_.find(name);
  if (found != known_.end()) return found->second.ways;
  return known_.emplace(name, Known{duplex(name, share * bandwidth), part_of, bandwidth, share}).first->second.ways;
}

std::vector<hardware::UplinkChange> Cables::profile_of(const std::string& link) const {
  for (const auto& [name, site] : config_.sites)
    if (link_of_site(name) == link) return site.profile;
  return {};
}

}  // namespace llmscape::world
