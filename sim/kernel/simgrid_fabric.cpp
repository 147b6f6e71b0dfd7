// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/simgrid_fabric.hpp"

#include "sim/kernel/simgrid_compat.hpp"

namespace llmscape::kernel {
namespace sg = simgrid::s4u;

void SimGridFabric::build(sg::NetZone* zone) {
  for (const std::string& name : endpoint_names()) hosts_.push_back(zone->create_host("end " + name, 1.0)->seal());
  for (const LinkState& link : link_states())
    wires_.push_back(zone->create_link(link.name, link.bandwidth.si())->seal());  // latencies are paid by the movers
  for (const auto& [ends, route] : routes()) {
    std::vector<sg::LinkInRoute> path;
    for (const Link link : route.path) path.emplace_back(wires_[link]);
    zone->add_route(hosts_[ends.first]->get_netpoint(), hosts_[ends.second]->get_netpoint(), nullptr, nullptr, path,
                    false);
  }
}

void SimGridFabric::start(Endpoint from, Endpoint to, const Route& route, Bytes bytes, Seconds now, Done done) {
  const bool fresh = idle_.empty();
  Mover& mover = fresh ? movers_.emplace_back() : *idle_.back();
  mover.transfer = {from, to, &route, bytes.si(), now + route.latency, std::move(done)};
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
    const bool arrived = carry(mover.transfer);
    const Done done = std::exchange(mover.transfer.done, nullptr);
    idle_.push_back(&mover);
    done(arrived, Seconds(sg::Engine::get_clock()));
    mover.bell->acquire();
  }
}

bool SimGridFabric::carry(const Transfer& transfer) const {
  if (!up(*transfer.route)) return false;
  bool arrived = true;
  try {
    sg::Comm::sendto(hosts_[transfer.from], hosts_[transfer.to], static_cast<std::uint64_t>(transfer.bytes));
  } catch (const simgrid::NetworkFailureException&) {
    arrived = false;  // nothing may block inside a handler
  }
  return arrived;
}

void SimGridFabric::apply_bandwidth(Link link, BytesPerSecond bandwidth, Seconds) {
  if (bandwidth > BytesPerSecond()) {
    wires_[link]->set_bandwidth(bandwidth.si());
    if (!wires_[link]->is_on()) wires_[link]->turn_on();
  } else {
    wires_[link]->turn_off();
  }
}

}  // namespace llmscape::kernel
