// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/simgrid_fabric.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/kernel/simgrid_compat.hpp"

namespace llmscape::kernel {
namespace sg = simgrid::s4u;
namespace {

// What a change costs SimGrid grows with the transfers on the way.
constexpr std::size_t kMostFlights = 256;

// SimGrid goes from x to a moment d by adding the rounded d - x, and what waits for d is lost if the sum comes out
// above it. From d / 2 on differences are exact (Sterbenz), so no sleep doubles the clock. The first microsecond
// needs no care: there the error is below SimGrid's precision, within which moments are one.
void sleep_until(Seconds moment) {
  constexpr double kFirst = 1.0 / (1 << 20);
  for (;;) {
    const double clock = sg::Engine::get_clock(), left = moment.si() - clock;
    if (left <= 0) return;
    sg::this_actor::sleep_for(std::min(left, std::max(clock, kFirst)));
  }
}

}  // namespace

void SimGridFabric::build(sg::NetZone* zone) {
  for (const std::string& name : endpoint_names()) hosts_.push_back(zone->create_host("end " + name, 1.0)->seal());
  for (const LinkState& link : link_states())  // latencies are paid before a transfer begins
    wires_.push_back(link.wire ? link.wire : zone->create_link(link.name, link.bandwidth.si())->seal());
  zone_ = zone;
  forget();
}

// A route is laid on SimGrid when something first goes over it: of the pairs of a fleet few ever move anything.
void SimGridFabric::lay(const Route& route) {
  if (laid_.empty()) laid_.resize(routes().all().size());
  if (laid_[routes().number(route)]) return;
  laid_[routes().number(route)] = true;
  std::vector<sg::LinkInRoute> hops;
  for (const Link link : path(route)) hops.emplace_back(wires_[link]);
  zone_->add_route(hosts_[route.from]->get_netpoint(), hosts_[route.to]->get_netpoint(), nullptr, nullptr, hops, false);
}

void SimGridFabric::send(Flight& flight, double bytes) {
  flight.comm = sg::Comm::sendto_async(hosts_[flight.from], hosts_[flight.to], static_cast<std::uint64_t>(bytes));
  ++pieces_;
}

void SimGridFabric::follow(Seconds now) {
  if (!flights_.empty()) sleep_until(now);
}

void SimGridFabric::on_begin(const Flow& flow) {
  if (under_way() == 0) follows_ = true;
  if (!follows_) return;
  sleep_until(flow.begins);
  settle();
  if (flights_.size() == kMostFlights) {
    follows_ = false;
    return give_up();
  }
  if (flights_.empty()) forget();
  Flight& flight = flights_[flow.id];
  flight = {flow.from, flow.to, flow.route};
  lay(*flow.route);
  send(flight, flow.bytes.si());
}

void SimGridFabric::on_end(const Flow& flow) {
  const auto found = flights_.find(flow.id);
  if (found == flights_.end()) return;  // its way was down when it was to begin, or it was given up
  Flight& flight = found->second;
  flight.ended = flow.ends;
  flight.lost = flow.lost;
  flight.within = tolerance(flight, flow.ends);
  overdue_.push_back(flow.id);
  settle();
}

// SimGrid moves whole bytes: each piece may be one ahead, and what it is ahead stays with those that shared a link with
// it, and with those that share one with them, until nothing is on the way.
Seconds SimGridFabric::tolerance(const Flight& flight, Seconds now) const {
  Seconds rounding(1e-9 * std::max(1.0, now.si()));
  for (const Link link : path(*flight.route))
    if (slowest_[link] > BytesPerSecond()) rounding += Bytes(static_cast<double>(pieces_)) / slowest_[link];
  return rounding;
}

// Whether SimGrid has done with a transfer that has ended as planned, at the same time. One that is lost may end at any
// moment from then on.
bool SimGridFabric::landed(const Flight& flight) const {
  const Seconds clock(sg::Engine::get_clock());
  if (!flight.comm->test()) {
    if (!flight.lost && clock > *flight.ended + flight.within)
      disagree(flight, "had not ended at " + std::to_string(clock.si()) + " s");
    if (!flight.lost) return false;
    flight.comm->cancel();
    return true;
  }
  const Seconds finished(flight.comm->get_finish_time());
  if (flight.lost && finished < Seconds()) return true;  // lost there too
  if (finished < *flight.ended - flight.within || (!flight.lost && finished > *flight.ended + flight.within))
    disagree(flight, "ended at " + std::to_string(finished.si()) + " s");
  return true;
}

void SimGridFabric::settle() {
  std::erase_if(overdue_, [this](std::uint64_t id) {
    const auto flight = flights_.find(id);
    if (!landed(flight->second)) return false;
    flights_.erase(flight);
    return true;
  });
}

void SimGridFabric::forget() {
  pieces_ = 0;
  slowest_.clear();
  for (const LinkState& link : link_states()) slowest_.push_back(link.bandwidth);
}

void SimGridFabric::stop() {
  settle();
  give_up();
}

void SimGridFabric::give_up() {
  for (auto& [id, flight] : flights_) flight.comm->cancel();
  flights_.clear();
  overdue_.clear();
}

void SimGridFabric::disagree(const Flight& flight, const std::string& simgrid) const {
  throw std::logic_error("INV-14: on SimGrid, a transfer from '" + endpoint_names()[flight.from] + "' to '" +
                         endpoint_names()[flight.to] + "' " + simgrid + ", and at " +
                         std::to_string(flight.ended->si()) + " s in the fluid model");
}

// A transfer that is under way on SimGrid is never faster than the narrowest link on its way was when it began. Where a
// link widens, the bytes that are left start again.
void SimGridFabric::apply_bandwidth(Link link, BytesPerSecond bandwidth, Seconds now) {
  FluidFabric::apply_bandwidth(link, bandwidth, now);
  if (bandwidth == BytesPerSecond()) return wires_[link]->turn_off();
  slowest_[link] = slowest_[link] > BytesPerSecond() ? std::min(slowest_[link], bandwidth) : bandwidth;
  const bool widens = bandwidth.si() > wires_[link]->get_bandwidth();
  wires_[link]->set_bandwidth(bandwidth.si());
  if (!wires_[link]->is_on()) wires_[link]->turn_on();
  if (!widens) return;
  for (auto& [id, flight] : flights_) {
    if (flight.ended || !crosses(*flight.route, link)) continue;
    const double left = flight.comm->get_remaining();
    if (left < 1) continue;
    flight.comm->cancel();
    send(flight, left);
  }
}

}  // namespace llmscape::kernel
