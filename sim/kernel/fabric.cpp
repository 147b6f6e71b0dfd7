// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/fabric.hpp"

#include <algorithm>
#include <stdexcept>

namespace llmscape::kernel {

Fabric::Endpoint Fabric::add_endpoint(const std::string& name) {
  endpoints_.push_back(name);
  return endpoints_.size() - 1;
}

Fabric::Link Fabric::add_link(const std::string& name, BytesPerSecond bandwidth) {
  return add_wire(name, bandwidth, nullptr);
}

Fabric::Link Fabric::add_wire(const std::string& name, BytesPerSecond bandwidth, simgrid::s4u::Link* wire) {
  links_.push_back({name, bandwidth, Bytes(), Bytes(), Seconds(), wire});
  return links_.size() - 1;
}

void Fabric::add_route(Endpoint from, Endpoint to, const std::vector<Link>& path, Seconds latency) {
  routes_.add(from, to, path, latency);
}

bool Fabric::up(const Route& route) const {
  return std::ranges::all_of(path(route), [this](Link link) { return links_[link].bandwidth > BytesPerSecond(); });
}

bool Fabric::crosses(const Route& route, Link link) const {
  return std::ranges::find(path(route), link) != path(route).end();
}

Fabric::Transfer Fabric::move(Endpoint from, Endpoint to, Bytes bytes, Seconds now, Done done) {
  const Route* const found = routes_.find(from, to);
  if (!found) throw std::logic_error("no route from '" + endpoints_.at(from) + "' to '" + endpoints_.at(to) + "'");
  const Route& route = *found;
  ++in_flight_;
  return start(from, to, route, bytes, now, [this, &route, bytes, done = std::move(done)](bool arrived, Seconds at) {
    --in_flight_;
    if (arrived) carry(route, bytes);
    done(arrived, at);
  });
}

void Fabric::carry(const Route& route, Bytes bytes) {
  for (const Link link : path(route)) links_[link].carried += bytes;
}

std::vector<Bytes> Fabric::carried(Seconds now) const {
  std::vector<Bytes> all;
  for (const LinkState& link : links_) all.push_back(link.carried);
  add_moving(all, now);
  return all;
}

void Fabric::set_bandwidth(Link link, BytesPerSecond bandwidth, Seconds now) {
  LinkState& state = links_.at(link);
  state.allowed += state.bandwidth * (now - state.since);
  state.since = now;
  state.bandwidth = bandwidth;
  apply_bandwidth(link, bandwidth, now);
}

Bytes Fabric::allowed(Link link, Seconds now) const {
  const LinkState& state = links_[link];
  return state.allowed + state.bandwidth * (now - state.since);
}

void Fabric::check_invariants(Seconds now) const {
  constexpr double kRounding = 1 + 1e-9;
  const std::vector<Bytes> moved = carried(now);
  for (Link link = 0; link < links_.size(); ++link)
    if (moved[link] > allowed(link, now) * kRounding)
      throw std::logic_error("INV-7: link '" + name_of(link) + "' carried more than its bandwidth allows until " +
                             std::to_string(now.si()) + " s");
}

}  // namespace llmscape::kernel
