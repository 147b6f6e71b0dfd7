// SPDX-License-Identifier: Apache-2.0
#include "sim/world/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace llmscape::world {
namespace {

// What of a replica is in one node.
struct Part {
  Seat seat;
  std::size_t node = 0;  // by number, of all nodes
  std::vector<std::int64_t> planes;
  std::optional<BytesPerSecond> reached;  // Cables::adapters_of
  std::optional<Duplex> adapters;         // of these devices, from the first way on that crosses them
};

// Of what moves between two replicas, what a part of one has for a part of the other, as a share. Entries lie cut
// evenly over the devices of a replica, by heads or layers in the order of the devices: what the first third of one has
// is for the first third of the other.
double share_of(const Seat& from, const Seat& out, const Seat& to, const Seat& in) {
  // Places in units of a device of `from` times one of `to`, so that they are whole numbers.
  const std::int64_t begin =
      std::max((out.first_device - from.first_device) * to.devices, (in.first_device - to.first_device) * from.devices);
  const std::int64_t end = std::min((out.first_device - from.first_device + out.devices) * to.devices,
                                    (in.first_device - to.first_device + in.devices) * from.devices);
  return static_cast<double>(std::max<std::int64_t>(0, end - begin)) / static_cast<double>(from.devices * to.devices);
}

// Of a fleet there is one for each pair of replicas, of which most have the way between their nodes in common: it is
// laid once.
class Ways {
 public:
  explicit Ways(Cables& cables) : cables_(cables) {}

  [[nodiscard]] std::vector<Part> parts_of(const Seat& seat) {
    std::vector<Part> parts;
    for (const Seat& part : by_node(seat)) {
      const auto node = nodes_.emplace(std::pair(part.group, node_of(part)), nodes_.size()).first->second;
      parts.push_back({part, node, cables_.planes_of(part), cables_.adapters_of(part), {}});
    }
    return parts;
  }
  // Adds one way of the adapters of a part of `replica` to a path that leaves its node or comes into it.
  void cross(Part& part, std::size_t replica, bool whole, kernel::Fabric::Link Duplex::* way,
             std::vector<kernel::Fabric::Link>& path) {
    if (!part.reached) return;
    if (!part.adapters)
      part.adapters =
          cables_.duplex(whole ? fmt::format("adapters of replica {}", replica)
                               : fmt::format("adapters of replica {}, node {}", replica, node_of(part.seat)),
                         *part.reached);
    path.push_back((*part.adapters).*way);
  }
  // Their ports' latencies are paid before.
  const kernel::Wiring::Way& between(const Part& from, const Part& to, std::int64_t plane) {
    const auto [known, fresh] = ways_.try_emplace({from.node, to.node, plane});
    if (fresh)
      known->second = cables_.way(from.seat, to.seat, plane,
                                  *from.seat.placement->node.port_latency + *to.seat.placement->node.port_latency);
    return known->second;
  }

 private:
  struct Ends {
    std::size_t from, to;
    std::int64_t plane;
    bool operator==(const Ends&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Ends& e) const {
      return (e.from * 0x9e3779b97f4a7c15ull ^ e.to) * 0xbf58476d1ce4e5b9ull ^ static_cast<std::size_t>(e.plane);
    }
  };
  Cables& cables_;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> nodes_;
  std::unordered_map<Ends, kernel::Wiring::Way, Hash> ways_;
};

}  // namespace

Links::Links(kernel::Fabric& fabric, Cables& cables, const std::vector<Seat>& seats) : fabric_(fabric) {
  std::vector<Duplex> ports(seats.size());
  std::vector<std::size_t> first_of(seats.size());  // with the same devices: streams of one pipeline
  std::map<std::tuple<std::string, std::int64_t, std::int64_t, bool, bool>, std::size_t> first_with;
  for (std::size_t i = 0; i < seats.size(); ++i) {
    fabric.add_endpoint(fmt::format("replica {}", i));
    const Seat& seat = seats[i];
    if (!seat.sends && !seat.receives) continue;
    const auto [same, fresh] =
        first_with.emplace(std::tuple(seat.group, seat.first_device, seat.devices, seat.sends, seat.receives), i);
    first_of[i] = same->second;
    if (!fresh) ports[i] = ports[same->second];
    else  // all ports of a replica together
      ports[i] = cables.duplex(fmt::format("port of replica {}", i),
                               static_cast<double>(seat.devices) * *seat.placement->node.port);
  }
  Ways ways(cables);
  std::vector<std::vector<Part>> parts(seats.size());
  for (std::size_t i = 0; i < seats.size(); ++i)
    if ((seats[i].sends || seats[i].receives) && first_of[i] == i) parts[i] = ways.parts_of(seats[i]);
  std::vector<kernel::Fabric::Link> path;
  std::vector<double> shares;
  for (std::size_t a = 0; a < seats.size(); ++a)
    for (std::size_t b = 0; b < seats.size(); ++b) {
      if (a == b || !seats[a].sends || !seats[b].receives) continue;
      shares.clear();
      std::vector<Part>&outs = parts[first_of[a]], &ins = parts[first_of[b]];
      for (Part& out : outs)
        for (Part& in : ins) {
          const double share = share_of(seats[a], out.seat, seats[b], in.seat);
          if (share <= 0) continue;
          const std::size_t planes = out.node == in.node ? 1 : in.planes.size();
          for (std::size_t plane = 0; plane < planes; ++plane) {
            const kernel::Wiring::Way& way = ways.between(out, in, out.node == in.node ? 0 : in.planes[plane]);
            path.assign({ports[a].out});
            if (out.node != in.node) ways.cross(out, first_of[a], outs.size() == 1, &Duplex::out, path);
            path.insert(path.end(), way.links.begin(), way.links.end());
            if (out.node != in.node) ways.cross(in, first_of[b], ins.size() == 1, &Duplex::in, path);
            path.push_back(ports[b].in);
            fabric.add_route(a, lane_of(b, shares.size()), path, way.latency);
            shares.push_back(share / static_cast<double>(planes));
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
