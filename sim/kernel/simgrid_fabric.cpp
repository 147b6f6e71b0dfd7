// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/simgrid_fabric.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/kernel/simgrid_compat.hpp"

namespace llmscape::kernel {
namespace sg = simgrid::s4u;

void SimGridFabric::build(sg::NetZone* zone) {
  for (const std::string& name : endpoint_names()) {
    hosts_.push_back(zone->create_host("end " + name, 1.0)->seal());
    plan_.add_endpoint(name);
  }
  for (const LinkState& link : link_states()) {
    wires_.push_back(zone->create_link(link.name, link.bandwidth.si())->seal());  // latencies are paid by the movers
    plan_.add_link(link.name, link.bandwidth);
  }
  for (const auto& [ends, route] : routes()) {
    std::vector<sg::LinkInRoute> path;
    for (const Link link : route.path) path.emplace_back(wires_[link]);
    zone->add_route(hosts_[ends.first]->get_netpoint(), hosts_[ends.second]->get_netpoint(), nullptr, nullptr, path,
                    false);
    plan_.add_route(ends.first, ends.second, route.path, route.latency);
  }
}

void SimGridFabric::start(Endpoint from, Endpoint to, const Route& route, Bytes bytes, Seconds now, Done done) {
  const bool fresh = idle_.empty();
  Mover& mover = fresh ? movers_.emplace_back() : *idle_.back();
  mover.transfer = {from, to, &route, bytes.si(), now + route.latency};
  plan_.move(from, to, bytes, now, [this, &mover, done = std::move(done)](bool arrived, Seconds at) {
    mover.transfer.ended = at;
    ended_.push_back({done, arrived, at});
  });
  if (!fresh) {
    idle_.pop_back();
    mover.bell->release();
    return;
  }
  start_actor(home_, "mover", [this, &mover] {
    try {
      work(mover);
    } catch (const simgrid::ForcefulKillException&) {
      throw;
    } catch (...) {
      fail_(std::current_exception());
    }
    sg::Actor::kill_all();  // after the handler, never in it
  })->daemonize();
}

void SimGridFabric::work(Mover& mover) {
  for (;;) {
    const double left = mover.transfer.begins.si() - sg::Engine::get_clock();
    if (left > 0) sg::this_actor::sleep_for(left);
    carry(mover.transfer);
    end(mover.transfer, Seconds(sg::Engine::get_clock()));
    idle_.push_back(&mover);
    deliver();
    mover.bell->acquire();
  }
}

// Returns when it has arrived or is lost.
void SimGridFabric::carry(const Transfer& transfer) const {
  if (!up(*transfer.route)) return;
  try {
    sg::Comm::sendto(hosts_[transfer.from], hosts_[transfer.to], static_cast<std::uint64_t>(transfer.bytes));
  } catch (const simgrid::NetworkFailureException&) {
    return;  // nothing may block inside a handler
  }
}

// SimGrid moves whole bytes: each transfer on the way may be one ahead.
Seconds SimGridFabric::tolerance(const Transfer& transfer, Seconds now) const {
  Seconds rounding(1e-9 * std::max(1.0, now.si()));
  for (const Link link : transfer.route->path)
    if (const BytesPerSecond bandwidth = link_states()[link].bandwidth; bandwidth > BytesPerSecond())
      rounding += Bytes(static_cast<double>(in_flight())) / bandwidth;
  return rounding;
}

// What was planned to end before the transfer ends too, in its order.
void SimGridFabric::end(const Transfer& transfer, Seconds now) {
  const Seconds within = tolerance(transfer, now);
  while (!transfer.ended && plan_.next_event() <= now + within) plan_.advance(plan_.next_event());
  if (!transfer.ended || *transfer.ended < now - within)
    throw std::logic_error("INV-14: a transfer from '" + endpoint_names()[transfer.from] + "' to '" +
                           endpoint_names()[transfer.to] + "' ended at " + std::to_string(now.si()) +
                           " s, and not when the fluid model says");
}

// Who is told may let others act meanwhile.
void SimGridFabric::deliver() {
  while (!ended_.empty()) {
    const Ended next = std::move(ended_.front());
    ended_.pop_front();
    next.done(next.arrived, next.at);
  }
}

void SimGridFabric::apply_bandwidth(Link link, BytesPerSecond bandwidth, Seconds now) {
  while (plan_.next_event() <= now) plan_.advance(plan_.next_event());
  plan_.set_bandwidth(link, bandwidth, now);
  if (bandwidth > BytesPerSecond()) {
    wires_[link]->set_bandwidth(bandwidth.si());
    if (!wires_[link]->is_on()) wires_[link]->turn_on();
  } else {
    wires_[link]->turn_off();
  }
  deliver();
}

}  // namespace llmscape::kernel
