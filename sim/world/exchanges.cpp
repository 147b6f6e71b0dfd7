// SPDX-License-Identifier: Apache-2.0
#include "sim/world/exchanges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace llmscape::world {

Exchange::Exchange(std::string name, const Seat& all, int first_replica, std::int64_t devices_of_rank,
                   engine::NodeTraffic traffic, kernel::Fabric& fabric, std::function<void()> arrived)
    : name_(std::move(name)), first_replica_(first_replica), devices_of_rank_(devices_of_rank),
      first_device_(all.first_device), traffic_(std::move(traffic)), fabric_(fabric), arrived_(std::move(arrived)) {
  for (const Seat& part : by_node(all)) parts_.push_back({part, {}, {}});
}

void Exchange::connect(Cables& cables) {
  std::vector<Duplex> own;
  for (Part& part : parts_) {
    const std::string name = fmt::format("{}, node {} of {}", name_, node_of(part.seat), part.seat.group);
    own.push_back(
        cables.duplex("collectives of " + name, static_cast<double>(part.seat.devices) * traffic_.bandwidth()));
    for (const std::int64_t plane : cables.planes_of(part.seat))
      part.lanes.push_back(fabric_.add_endpoint(fmt::format("{}, plane {}", name, plane)));
  }
  for (std::size_t from = 0; from < parts_.size(); ++from) {
    const auto planes = cables.planes_of(parts_[from].seat);
    for (std::size_t to = 0; to < parts_.size(); ++to) {
      if (from == to) continue;
      for (std::size_t lane = 0; lane < planes.size(); ++lane) {
        std::vector<kernel::Fabric::Link> path = {own[from].out};
        const auto way = cables.way(parts_[from].seat, parts_[to].seat, planes[lane]);
        path.insert(path.end(), way.links.begin(), way.links.end());
        path.push_back(own[to].in);
        fabric_.add_route(parts_[from].lanes[lane], parts_[to].lanes.front(), path, Seconds());
      }
    }
  }
}

// All devices of a rank send as much, those of one node together.
Seconds Exchange::plan(int index, const models::Batch& batch) {
  const engine::NodeBytes each = traffic_.of(batch);
  const std::int64_t first = first_device_ + (index - first_replica_) * devices_of_rank_,
                     end = first + devices_of_rank_;
  for (Part& part : parts_) {
    const std::int64_t here =
        std::min(end, part.seat.first_device + part.seat.devices) - std::max(first, part.seat.first_device);
    if (here <= 0) continue;
    part.sent.around += static_cast<double>(here) * each.around;
    part.sent.to_all += static_cast<double>(here) * each.to_all;
    part.sent.from_all += static_cast<double>(here) * each.from_all;
  }
  return traffic_.priced(each);
}

Bytes Exchange::sent(std::size_t from, std::size_t to) const {
  Bytes bytes = parts_[from].sent.to_all / static_cast<double>(parts_.size() - 1);
  if (to == (from + 1) % parts_.size()) bytes += parts_[from].sent.around;
  return bytes;
}

Bytes Exchange::returned(std::size_t, std::size_t to) const {
  return parts_[to].sent.from_all / static_cast<double>(parts_.size() - 1);
}

Exchange::Flows Exchange::flows(Bytes (Exchange::*bytes_of)(std::size_t, std::size_t) const) const {
  Flows all;
  for (std::size_t from = 0; from < parts_.size(); ++from)
    for (std::size_t to = 0; to < parts_.size(); ++to) {
      if (from == to) continue;
      const Bytes bytes = (this->*bytes_of)(from, to) / static_cast<double>(parts_[from].lanes.size());
      if (bytes >= Bytes(1)) all.push_back({from, to, bytes});
    }
  return all;
}

void Exchange::start(const Flows& flows, Seconds now, std::function<void(Seconds at)> done) {
  struct Open {
    std::size_t flows = 0;
    std::function<void(Seconds)> done;
  };
  auto open = std::make_shared<Open>(Open{0, std::move(done)});
  for (const Flow& flow : flows)
    for (const kernel::Fabric::Endpoint lane : parts_[flow.from].lanes) {
      ++open->flows;
      fabric_.move(lane, parts_[flow.to].lanes.front(), flow.bytes, now, [this, open](bool arrived, Seconds at) {
        if (!arrived) throw std::logic_error("a collective of " + name_ + " crossed a link that failed");
        if (--open->flows == 0) open->done(at);
      });
    }
}

bool Exchange::begin(Seconds now, std::function<void(Seconds at)> done) {
  const Flows there = flows(&Exchange::sent), back = flows(&Exchange::returned);
  for (Part& part : parts_) part.sent = {};
  const auto end = [this, done = std::move(done)](Seconds at) {
    done(at);
    arrived_();
  };
  if (there.empty() && back.empty()) return false;
  if (there.empty() || back.empty()) {
    start(there.empty() ? back : there, now, end);
  } else {
    start(there, now, [this, back, end](Seconds at) { start(back, at, end); });
  }
  return true;
}

}  // namespace llmscape::world
