// SPDX-License-Identifier: Apache-2.0
#include "sim/world/links.hpp"

#include <fmt/format.h>

#include <memory>

namespace llmscape::world {

Links::Links(kernel::Fabric& fabric, Cables& cables, const std::vector<Seat>& seats) : fabric_(fabric) {
  std::vector<Duplex> ports(seats.size());
  for (std::size_t i = 0; i < seats.size(); ++i) {
    fabric.add_endpoint(fmt::format("replica {}", i));
    const Seat& seat = seats[i];
    if (seat.sends || seat.receives)  // all ports of a replica together
      ports[i] = cables.duplex(fmt::format("port of replica {}", i),
                               static_cast<double>(seat.devices) * *seat.placement->node.port);
  }
  for (std::size_t a = 0; a < seats.size(); ++a)
    for (std::size_t b = 0; b < seats.size(); ++b) {
      if (a == b || !seats[a].sends || !seats[b].receives) continue;
      const Seat &from = seats[a], &to = seats[b];
      const bool leaves = from.group != to.group || node_of(from) != node_of(to);
      const auto planes = leaves ? cables.planes_of(to) : std::vector<std::int64_t>{0};
      for (std::size_t lane = 0; lane < planes.size(); ++lane) {
        const kernel::Wiring::Way way =
            cables.way(from, to, planes[lane], *from.placement->node.port_latency + *to.placement->node.port_latency);
        std::vector<kernel::Fabric::Link> path = {ports[a].out};
        path.insert(path.end(), way.links.begin(), way.links.end());
        path.push_back(ports[b].in);
        fabric.add_route(a, lane_of(b, lane), path, way.latency);
      }
      if (planes.size() > 1) lanes_[{a, b}] = planes.size();
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

void Links::move(std::size_t from, std::size_t to, Bytes bytes, Seconds now, kernel::Fabric::Done done) {
  const auto found = lanes_.find({from, to});
  const std::size_t lanes = found == lanes_.end() ? 1 : found->second;
  if (lanes == 1) return fabric_.move(from, to, bytes, now, std::move(done));
  struct Parts {
    std::size_t open;
    bool arrived;
    kernel::Fabric::Done done;
  };
  auto parts = std::make_shared<Parts>(Parts{lanes, true, std::move(done)});
  for (std::size_t lane = 0; lane < lanes; ++lane)
    fabric_.move(from, lane_of(to, lane), bytes / static_cast<double>(lanes), now, [parts](bool arrived, Seconds at) {
      parts->arrived = parts->arrived && arrived;
      if (--parts->open == 0) parts->done(parts->arrived, at);
    });
}

}  // namespace llmscape::world
