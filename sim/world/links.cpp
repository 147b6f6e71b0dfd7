// SPDX-License-Identifier: Apache-2.0
#include "sim/world/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace llmscape::world {
namespace {

// What a part of one replica in a node has for a part of another.
struct Overlap {
  Seat from, to;
  double share;  // of all that moves
  [[nodiscard]] bool leaves() const { return from.group != to.group || node_of(from) != node_of(to); }
};

// Entries lie cut evenly over the devices of a replica, by heads or layers in the order of the devices: what the first
// third of one has is for the first third of the other.
std::vector<Overlap> overlaps(const Seat& from, const Seat& to) {
  std::vector<Overlap> all;
  for (const Seat& out : by_node(from))
    for (const Seat& in : by_node(to)) {
      // Places in units of a device of `from` times one of `to`, so that they are whole numbers.
      const std::int64_t begin = std::max((out.first_device - from.first_device) * to.devices,
                                          (in.first_device - to.first_device) * from.devices);
      const std::int64_t end = std::min((out.first_device - from.first_device + out.devices) * to.devices,
                                        (in.first_device - to.first_device + in.devices) * from.devices);
      if (end > begin)
        all.push_back({out, in, static_cast<double>(end - begin) / static_cast<double>(from.devices * to.devices)});
    }
  return all;
}

}  // namespace

Links::Links(kernel::Fabric& fabric, Cables& cables, const std::vector<Seat>& seats) : fabric_(fabric) {
  std::vector<Duplex> ports(seats.size());
  for (std::size_t i = 0; i < seats.size(); ++i) {
    fabric.add_endpoint(fmt::format("replica {}", i));
    const Seat& seat = seats[i];
    if (!seat.sends && !seat.receives) continue;
    const auto same = std::ranges::find_if(seats.begin(), seats.begin() + static_cast<std::ptrdiff_t>(i),
                                           [&](const Seat& before) { return before.has_devices_of(seat); });
    const auto first = static_cast<std::size_t>(same - seats.begin());
    if (first < i) ports[i] = ports[first];  // streams of one pipeline
    else                                     // all ports of a replica together
      ports[i] = cables.duplex(fmt::format("port of replica {}", i),
                               static_cast<double>(seat.devices) * *seat.placement->node.port);
  }
  for (std::size_t a = 0; a < seats.size(); ++a)
    for (std::size_t b = 0; b < seats.size(); ++b) {
      if (a == b || !seats[a].sends || !seats[b].receives) continue;
      std::vector<double> shares;
      for (const Overlap& both : overlaps(seats[a], seats[b])) {
        const auto planes = both.leaves() ? cables.planes_of(both.to) : std::vector<std::int64_t>{0};
        for (const std::int64_t plane : planes) {
          const kernel::Wiring::Way way =
              cables.way(both.from, both.to, plane,
                         *both.from.placement->node.port_latency + *both.to.placement->node.port_latency);
          std::vector<kernel::Fabric::Link> path = {ports[a].out};
          path.insert(path.end(), way.links.begin(), way.links.end());
          path.push_back(ports[b].in);
          fabric.add_route(a, lane_of(b, shares.size()), path, way.latency);
          shares.push_back(both.share / static_cast<double>(planes.size()));
        }
      }
      if (shares.size() > 1) lanes_[{a, b}] = shares;
    }
}

// The endpoint of a replica where one of several lanes to it ends; the first ends at the replica's own.
kernel::Fabric::Endpoint Links::lane_of(std::size_t replica, std::size_t lane) {
  if (lane == 0) return replica;
  const auto found = ends_.find({replica, lane});
  if (found != ends_.end()) return found->second;
  const auto end = fabric_.add_endpoint(fmt::format("replica {}, lane {}", replica, lane));
  return ends_.emplace(std::pair(replica, lane), end).first->second;
}

std::function<void(Seconds)> Links::move(std::size_t from, std::size_t to, Bytes bytes, Seconds now,
                                         kernel::Fabric::Done done) {
  const auto found = lanes_.find({from, to});
  if (found == lanes_.end())
    return
        [this, whole = fabric_.move(from, to, bytes, now, std::move(done))](Seconds at) { fabric_.cancel(whole, at); };
  struct Parts {
    std::size_t open;
    bool arrived;
    kernel::Fabric::Done done;
  };
  const std::vector<double>& shares = found->second;
  auto parts = std::make_shared<Parts>(Parts{shares.size(), true, std::move(done)});
  std::vector<kernel::Fabric::Transfer> transfers;
  for (std::size_t lane = 0; lane < shares.size(); ++lane)
    transfers.push_back(
        fabric_.move(from, lane_of(to, lane), shares[lane] * bytes, now, [parts](bool arrived, Seconds at) {
          parts->arrived = parts->arrived && arrived;
          if (--parts->open == 0) parts->done(parts->arrived, at);
        }));
  return [this, transfers = std::move(transfers)](Seconds at) {
    for (const kernel::Fabric::Transfer transfer : transfers) fabric_.cancel(transfer, at);
  };
}

}  // namespace llmscape::world
