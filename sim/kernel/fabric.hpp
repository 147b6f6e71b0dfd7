// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "sim/kernel/routes.hpp"

namespace simgrid::s4u {
class Link;
}

namespace llmscape::kernel {

// One-way links that transfers share, and the routes over them. Concurrent transfers share each link max-min fairly:
// all rates rise together until a link on the way is full. Latencies are paid before the first byte and bias nothing.
//
// Endpoints, links and routes are declared before the run; transfers start from within wake() of a process, at its
// `now`.
class Fabric {
 public:
  using Endpoint = std::size_t;
  using Link = std::size_t;
  using Transfer = std::uint64_t;  // by number
  // Whether the bytes arrived, and when that was known.
  using Done = std::function<void(bool arrived, Seconds at)>;

  Fabric() = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  virtual ~Fabric() = default;

  // Names are unique among endpoints, and among links.
  Endpoint add_endpoint(const std::string& name);
  Link add_link(const std::string& name, BytesPerSecond bandwidth);  // above 0
  // One that a topology has laid on SimGrid.
  Link add_wire(const std::string& name, BytesPerSecond bandwidth, simgrid::s4u::Link* wire);
  // What goes from one endpoint to another one crosses these links, each once, after `latency`.
  void add_route(Endpoint from, Endpoint to, const std::vector<Link>& path, Seconds latency);

  // Moves at least one byte between two endpoints that a route joins; throws std::logic_error where none does. `done`
  // is called once, later. A transfer fails if a link on its way is down when its first byte would leave, or goes down
  // before its last has arrived.
  Transfer move(Endpoint from, Endpoint to, Bytes bytes, Seconds now, Done done);
  // Loses a transfer that has not ended: one of its ends is gone.
  virtual void cancel(Transfer transfer, Seconds now) = 0;
  // 0: the link is down.
  void set_bandwidth(Link link, BytesPerSecond bandwidth, Seconds now);

  [[nodiscard]] std::size_t links() const { return links_.size(); }
  [[nodiscard]] const std::string& name_of(Link link) const { return links_[link].name; }
  // Of each link until `now`: all bytes of transfers that arrived, of others what had moved by then, or when they were
  // lost.
  [[nodiscard]] std::vector<Bytes> carried(Seconds now) const;
  [[nodiscard]] Bytes allowed(Link link, Seconds now) const;  // by its bandwidth until `now`
  [[nodiscard]] std::int64_t in_flight() const { return in_flight_; }
  // INV-7: no link has carried more than its bandwidth allowed until `now`. Throws std::logic_error naming it.
  void check_invariants(Seconds now) const;

 protected:
  struct LinkState {
    std::string name;
    BytesPerSecond bandwidth;
    Bytes carried;
    Bytes allowed;  // by its bandwidth until `since`
    Seconds since;
    simgrid::s4u::Link* wire = nullptr;  // on SimGrid, where it is there before the run
  };

  [[nodiscard]] const std::vector<std::string>& endpoint_names() const { return endpoints_; }
  [[nodiscard]] const std::vector<LinkState>& link_states() const { return links_; }
  [[nodiscard]] Routes& routes() { return routes_; }
  [[nodiscard]] std::span<const std::uint32_t> path(const Route& route) const { return routes_.path(route); }
  [[nodiscard]] bool up(const Route& route) const;
  [[nodiscard]] bool crosses(const Route& route, Link link) const;

  // A transfer has moved so much over its way, and moves no more.
  void carry(const Route& route, Bytes bytes);
  // Adds what those under way have moved over each link.
  virtual void add_moving(std::vector<Bytes>& carried, Seconds now) const = 0;
  // Calls done(arrived, at) when the transfer has ended.
  virtual Transfer start(Endpoint from, Endpoint to, const Route& route, Bytes bytes, Seconds now, Done done) = 0;
  virtual void apply_bandwidth(Link link, BytesPerSecond bandwidth, Seconds now) = 0;

 private:
  std::vector<std::string> endpoints_;
  std::vector<LinkState> links_;
  Routes routes_;
  std::int64_t in_flight_ = 0;
};

}  // namespace llmscape::kernel
